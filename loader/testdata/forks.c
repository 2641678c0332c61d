// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Children of fork that do what a thread of the parent does all the time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

static void ignore(int number) { (void)number; }

static int descriptor;
static void handle(void) { signal(SIGUSR2, ignore); }
static void map(void) { munmap(mmap(NULL, 4096, PROT_READ, MAP_SHARED, descriptor, 0), 4096); }

static void (*act)(void);
static atomic_bool begun, stop;
static void *go_on(void *unused)
{
    while (!stop) {
        act();
        begun = true;
    }
    return unused;
}

/* Whether a child ends by itself. */
static int ends(pid_t child)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        if (waitpid(child, NULL, WNOHANG) == child)
            return 1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}

/* How many children end, up to the first that does not. */
static int forks(void (*what)(void), int times)
{
    pthread_t thread;
    int n = 0;
    act = what;
    begun = stop = false;
    pthread_create(&thread, NULL, go_on, NULL);
    while (!begun)
        ;
    for (int good = 1; good && n < times; n += good) {
        pid_t child = fork();
        if (child == 0) {
            act();
            _exit(0);
        }
        good = ends(child);
    }
    stop = true;
    pthread_join(thread, NULL);
    return n;
}

int forks_with_handlers(int times)
{
    int n = forks(handle, times);
    signal(SIGUSR2, SIG_DFL);
    return n;
}

int forks_with_segments(int times)
{
    descriptor = memfd_create("tpsl-test-forks", MFD_CLOEXEC);
    ftruncate(descriptor, 4096);
    int n = forks(map, times);
    close(descriptor);
    return n;
}
