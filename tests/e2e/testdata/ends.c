/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * ends WHAT: ways for a process to end while one of its two ranks waits inside MPI.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sem_t near;

static void goodbye(void)
{
    printf("atexit: slot %d\n", TPSL_Slot());
}

static void *waits(void *unused)
{
    int never;
    TPSL_Init(1);
    sem_post(&near);
    MPI_Recv(&never, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return unused;
}

static void *ends(void *unused)
{
    TPSL_Init(1);
    pthread_exit(unused);
}

int main(int argc, char **argv)
{
    pthread_t t;
    int is_thread = strcmp(argv[argc - 1], "thread_ends") == 0;
    sem_init(&near, 0, 0);
    atexit(goodbye);
    pthread_create(&t, NULL, is_thread ? ends : waits, NULL);
    TPSL_Init(0);
    if (is_thread)
        pthread_join(t, NULL);
    else
        sem_wait(&near);
    if (strcmp(argv[argc - 1], "exit") == 0)
        exit(5);
    if (strcmp(argv[argc - 1], "_exit") == 0)
        _exit(6);
    if (strcmp(argv[argc - 1], "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(argv[argc - 1], "signal") == 0)
        kill(getpid(), SIGTERM);
    return 0;
}
