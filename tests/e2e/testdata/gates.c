// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* gates HOW FOLDER: ranks meet where one of them keeps the others out of libc. Files in the folder tell how far they are. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank;

static void tell(const char *what) { close(creat(what, 0600)); }

static void await(const char *what)
{
    while (access(what, F_OK) != 0)
        usleep(1000);
}

static int stay_inside(struct dl_phdr_info *info, size_t size, void *until)
{
    tell("inside");
    await(until);
    return 1;
}

static void *fork_beside(void *unused)
{
    tell("forks");
    if (fork() == 0)
        _exit(0);
    return NULL;
}

static void *look_around(void *until)
{
    dl_iterate_phdr(stay_inside, until);
    return NULL;
}

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return NULL;
}

static void start(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, routine, argument) != 0)
        abort();
}

/* Rank 0 ends while a thread of its own has a fork wait for rank 1. Then rank 2 needs ld.so. */
static void end_with_fork(void)
{
    if (rank == 1) {
        dl_iterate_phdr(stay_inside, "found");
    } else if (rank == 0) {
        await("inside");
        start(fork_beside, NULL);
        await("forks");
        usleep(100000); /* for the fork to begin */
        tell("ends");
        _exit(0);
    } else {
        await("ends");
        usleep(2000000); /* more than rank 0 has to end */
        if (dlsym(RTLD_DEFAULT, "malloc"))
            tell("found");
        puts("rank 2 found it");
    }
}

/* Rank 0 executes another program, and leaves a thread behind that does not leave ld.so. Forks of rank 1 do not wait for it. */
static void fork_beside_other_program(void)
{
    if (rank == 0) {
        start(look_around, "never");
        await("inside");
        tell("executes");
        execl("/bin/sh", "sh", "-c", "until [ -e forked ]; do sleep 0.01; done", NULL);
    } else if (rank == 1) {
        await("executes");
        usleep(2000000); /* more than the thread has to leave */
        time_t start = time(NULL);
        for (int i = 0; i < 3; i++) {
            pid_t pid = fork();
            if (pid == 0)
                _exit(0);
            waitpid(pid, NULL, 0);
        }
        printf("three forks took %s than 9 seconds\n", time(NULL) - start < 9 ? "less" : "more");
        tell("forked");
    }
}

/* After an exec that failed setuid reaches all threads, as before it. */
static void set_user(void)
{
    start(sleep_on, NULL);
    execl("/nowhere", "nowhere", NULL);
    if (setuid(getuid()) == 0 && rank == 0)
        puts("the user is set");
}

int main(int argc, char **argv)
{
    rank = atoi(getenv("PMI_RANK"));
    if (chdir(argv[2]) != 0)
        return 2;
    if (strcmp(argv[1], "end") == 0)
        end_with_fork();
    else if (strcmp(argv[1], "exec") == 0)
        fork_beside_other_program();
    else
        set_user();
    return 0;
}
