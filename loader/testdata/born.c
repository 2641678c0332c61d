// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Children of fork that start a thread, while other threads start threads; who is told of them. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CREATORS = 2, PATIENCE = 60000 }; /* milliseconds */

static atomic_bool over;

static void *nothing(void *unused)
{
    return unused;
}

static int start_and_join(void)
{
    pthread_t t;
    return pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL);
}

static void *start_many(void *unused)
{
    while (!atomic_load(&over))
        start_and_join();
    return unused;
}

/* Tells whether a child that starts a thread ends. */
static int child_ends(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(start_and_join());
    for (int i = 0, status; i < PATIENCE; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status == 0;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}

/* How many of n children end, up to the first that does not. */
int children_end(int n)
{
    pthread_t creators[CREATORS];
    int ended = 0;
    for (int i = 0; i < CREATORS; i++)
        pthread_create(&creators[i], NULL, start_many, NULL);
    while (ended < n && child_ends())
        ended++;
    atomic_store(&over, 1);
    for (int i = 0; i < CREATORS; i++)
        pthread_join(creators[i], NULL);
    return ended;
}

static void be_told(void) {}

int ask_for_forks(void)
{
    return pthread_atfork(be_told, be_told, be_told);
}
