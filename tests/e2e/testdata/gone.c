/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * gone: the thread of one of two ranks ends, its process does not.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pid_t thread;

static void *claim(void *arg)
{
    thread = gettid();
    MPI_Init(NULL, NULL);
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, claim, NULL);
    MPI_Init(NULL, NULL);
    pthread_join(other, NULL);
    while (tgkill(getpid(), thread, 0) == 0) /* the kernel is not through with it */
        usleep(1000);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
