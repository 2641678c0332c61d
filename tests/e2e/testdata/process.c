/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * process FOLDER: what belongs to the process and not to a rank. One rank changes it, the
 * other one looks.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static int wrong, pipes[2], at_exit;
static volatile sig_atomic_t signals;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s\n", __LINE__, #condition); \
            __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED); \
        } \
    } while (0)

static int peer(void)
{
    return 1 - TPSL_Slot();
}

static void exchange(void)
{
    int out = TPSL_Slot(), in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, peer(), 0, &in, 1, MPI_INT, peer(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == peer());
}

static void environment_changes(void)
{
    setenv("TPSL_TEST_WORD", "said", 1);
}
static void environment_is_seen(void)
{
    CHECK(getenv("TPSL_TEST_WORD") && strcmp(getenv("TPSL_TEST_WORD"), "said") == 0);
}

static void folder_changes(void)
{
    CHECK(chdir(folder) == 0);
}
static void folder_is_seen(void)
{
    MPI_File f;
    CHECK(MPI_File_open(MPI_COMM_SELF, "relative", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f) == MPI_SUCCESS);
    MPI_File_close(&f);
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/relative", folder);
    CHECK(stat(path, &st) == 0);
}

static void mask_changes(void)
{
    umask(077);
}
static void mask_is_seen(void)
{
    CHECK(umask(077) == 077);
}

static void limit_changes(void)
{
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = 1000;
    CHECK(setrlimit(RLIMIT_NOFILE, &r) == 0);
}
static void limit_is_seen(void)
{
    struct rlimit r;
    getrlimit(RLIMIT_NOFILE, &r);
    CHECK(r.rlim_cur == 1000);
}

static void locale_changes(void)
{
    CHECK(setlocale(LC_ALL, "C.UTF-8"));
}
static void locale_is_seen(void)
{
    CHECK(strcmp(setlocale(LC_ALL, NULL), "C.UTF-8") == 0);
}

static void descriptor_is_closed(void)
{
    close(pipes[1]);
}
static void closing_is_seen(void)
{
    CHECK(write(pipes[1], "x", 1) == -1 && errno == EBADF);
}

static void on_signal(int signal)
{
    (void)signal;
    signals++;
}
static void signal_is_sent(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &a, NULL);
    kill(getpid(), SIGUSR1);
}
static void signal_is_seen(void)
{
    for (int i = 0; i < 5000 && !signals; i++)
        usleep(1000);
    CHECK(signals == 1);
}

static void nothing(void)
{
}
/* While the other rank waits inside MPI. */
static void commands_run(void)
{
    CHECK(WEXITSTATUS(system("exit 7")) == 7);
    char line[8] = "";
    FILE *f = popen("echo hello", "r");
    CHECK(f && fgets(line, sizeof line, f) && strcmp(line, "hello\n") == 0 && pclose(f) == 0);
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
}

static void statics_are_the_programs(void)
{
    char words[] = "one two";
    int flag;
    strtok(words, " ");
    time_t zero = 0;
    struct tm *t = gmtime(&zero);
    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(strcmp(strtok(NULL, " "), "two") == 0 && t->tm_year == 70);
}

static const struct {
    void (*change)(void), (*look)(void);
} things[] = {
    {environment_changes, environment_is_seen}, {folder_changes, folder_is_seen}, {mask_changes, mask_is_seen},     {limit_changes, limit_is_seen},
    {locale_changes, locale_is_seen},           {descriptor_is_closed, closing_is_seen}, {signal_is_sent, signal_is_seen}, {nothing, commands_run},
    {nothing, statics_are_the_programs},
};

/* MPI-IO reads the mask by setting it: not for the other ranks, nor for long. */
static void files_have_the_mask(void)
{
    char name[32];
    struct stat st;
    MPI_File f;
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "%d-%d", TPSL_Slot(), i);
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
        MPI_File_close(&f);
        CHECK(stat(name, &st) == 0 && (st.st_mode & 0777) == 0600);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    mask_is_seen();
}

static void print_lines(void)
{
    for (int i = 0; i < 500; i++)
        printf("rank %d says line %d\n", TPSL_Slot(), i);
}

static void rank(void)
{
    int pids[2], mine = getpid();
    MPI_Init(NULL, NULL);
    MPI_Allgather(&mine, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(pids[0] == pids[1] && pids[0] == getpid());
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        if (TPSL_Slot() == 0)
            things[i].change();
        MPI_Barrier(MPI_COMM_WORLD);
        if (TPSL_Slot() == 1)
            things[i].look();
        exchange();
    }
    files_have_the_mask();
    print_lines();
    MPI_Finalize();
}

static void goodbye(void)
{
    int finalized = 0;
    MPI_Finalized(&finalized);
    printf("process: exit %d, finalized %d, %d wrong\n", ++at_exit, finalized, wrong);
}

int main(int argc, char **argv)
{
    folder = argv[argc - 1];
    CHECK(pipe(pipes) == 0);
    atexit(goodbye);
    TPSL_Local_size();
    setenv("PMI_RANK", "98,99", 1); /* too late: each rank has its own */
    setenv("PMI_FD", "98,99", 1);
#pragma omp parallel
    rank();
    return 0;
}
