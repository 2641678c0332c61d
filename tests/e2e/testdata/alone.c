/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* What a flat program may count on having to itself. Each rank does something that the
 * others must not notice, all meet, and each looks whether its own is still there. The
 * first argument names the way in which the program ends. */
#include <aio.h>
#include <assert.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, failures;
static volatile sig_atomic_t caught;
static __thread int local = 7;

#define EXPECT(condition)                                                   \
    do                                                                      \
        if (!(condition)) {                                                 \
            printf("rank %d, line %d: not %s\n", rank, __LINE__, #condition); \
            failures++;                                                     \
        }                                                                   \
    while (0)

static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void on_signal(int number)
{
    caught = rank + 1;
}

static void signals(void)
{
    signal(SIGUSR2, rank == 0 ? on_signal : SIG_IGN);
    meet();
    raise(SIGUSR2);
    EXPECT(caught == (rank == 0 ? 1 : 0));
    meet();
}

static void directory(void)
{
    char want[64], have[64];
    snprintf(want, sizeof want, "/proc/%d", getpid());
    EXPECT(chdir(want) == 0);
    meet();
    EXPECT(getcwd(have, sizeof have) && strcmp(have, want) == 0);
    meet();
    EXPECT(chdir("/") == 0);
}

/* Every rank opens a pipe: the numbers are alike, what is behind them is not. */
static void descriptors(void)
{
    int fds[2];
    char text = (char)('a' + rank), back = 0;
    EXPECT(pipe(fds) == 0);
    meet();
    EXPECT(write(fds[1], &text, 1) == 1);
    meet();
    EXPECT(read(fds[0], &back, 1) == 1 && back == text);
    close(fds[0]);
    close(fds[1]);
    meet();
}

/* What is written later goes to the rank's file, too. */
static void later(void)
{
    char text[16], back[16] = "";
    FILE *file = tmpfile();
    snprintf(text, sizeof text, "rank %d", rank);
    struct aiocb request = {.aio_fildes = fileno(file), .aio_buf = text, .aio_nbytes = sizeof text};
    meet();
    EXPECT(aio_write(&request) == 0);
    while (aio_error(&request) == EINPROGRESS)
        usleep(100);
    EXPECT(aio_return(&request) == sizeof text);
    EXPECT(pread(fileno(file), back, sizeof back, 0) == sizeof back && strcmp(back, text) == 0);
    meet();
    fclose(file);
}

/* PMI's or PMIx's. */
static int number_of_launcher(void)
{
    const char *number = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMIX_RANK");
    return number ? atoi(number) : -1;
}

static void environment(void)
{
    char text[16];
    snprintf(text, sizeof text, "%d", rank);
    EXPECT(setenv("ALONE", text, 1) == 0);
    meet();
    EXPECT(getenv("ALONE") && atoi(getenv("ALONE")) == rank);
    EXPECT(number_of_launcher() == rank);
    EXPECT(!getenv("TPSL_CONTROL_FD"));
}

static void *other_thread(void *out)
{
    *(int *)out = local;
    local = -1;
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    int seen = 0;
    local += rank;
    meet();
    EXPECT(pthread_create(&thread, NULL, other_thread, &seen) == 0 && pthread_join(thread, NULL) == 0);
    EXPECT(seen == 7);
    EXPECT(local == 7 + rank);
}

static int status_of(pid_t pid)
{
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void children(void)
{
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit $((ALONE + 20))", (char *)NULL);
        _exit(127);
    }
    EXPECT(status_of(child) == 20 + rank);
    EXPECT(WEXITSTATUS(system("exit $((ALONE + 30))")) == 30 + rank);
    FILE *pipe = popen("echo $ALONE", "r");
    int said = -1;
    EXPECT(pipe && fscanf(pipe, "%d", &said) == 1 && said == rank);
    EXPECT(pipe && pclose(pipe) == 0);
}

/* What libc remembers between two calls. */
static void statics(void)
{
    char text[] = "a,b,c", *argv[] = {"alone", "-xy", "file", NULL};
    struct tm *tm;
    time_t day = (time_t)rank * 86400;
    srand((unsigned)rank);
    srand48(rank);
    EXPECT(getopt(3, argv, "xy") == 'x');
    EXPECT(strcmp(strtok(text, ","), "a") == 0);
    tm = gmtime(&day);
    meet();
    printf("rank %d: rand %d %f", rank, rand(), drand48());
    if (rank == 0)
        printf(" %d %d", rand(), rand());
    meet();
    printf(" %d %f\n", rand(), drand48());
    EXPECT(getopt(3, argv, "xy") == 'y' && getopt(3, argv, "xy") == -1 && optind == 2);
    EXPECT(strcmp(strtok(NULL, ","), "b") == 0);
    EXPECT(tm->tm_mday == 1 + rank);
    meet();
}

static void at_quick_end(void)
{
    printf("rank %d: at_quick_exit\n", rank);
    fflush(stdout);
}

static void *last_thread(void *unused)
{
    usleep(50000);
    printf("rank %d: last thread\n", rank);
    return NULL;
}

static void leave_first(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, last_thread, NULL);
    pthread_exit(NULL);
}

static void at_end(void)
{
    printf("rank %d: atexit\n", rank);
}

__attribute__((destructor)) static void destruct(void)
{
    printf("rank %d: destructor\n", rank);
}

int main(int argc, char **argv)
{
    assert(argc == 2);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    atexit(at_end);
    at_quick_exit(at_quick_end);
    signals();
    directory();
    descriptors();
    later();
    environment();
    threads();
    children();
    statics();
    if (strcmp(argv[1], "crash") == 0 && rank == 1)
        *(volatile int *)8 = 1;
    if (strcmp(argv[1], "abort") == 0 && rank == 1)
        abort();
    if (strcmp(argv[1], "early") == 0 && rank == 1)
        exit(9);
    if (strcmp(argv[1], "mpi_abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Finalize();
    printf("rank %d: end\n", rank); /* in the buffer of a pipe */
    if (strcmp(argv[1], "_exit") == 0) {
        fflush(NULL);
        _exit(3);
    }
    if (strcmp(argv[1], "quick_exit") == 0)
        quick_exit(2);
    if (strcmp(argv[1], "pthread_exit") == 0)
        leave_first();
    if (strcmp(argv[1], "errx") == 0)
        errx(6, "rank %d gives up", rank);
    if (strcmp(argv[1], "exit") == 0)
        exit(4 + rank);
    return failures ? 99 : 0;
}
