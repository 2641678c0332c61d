/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * runsignals: handlers of the program beside those that MPI libraries of ranks install. The word says which.
 */
#include <mpi.h>
#include <tpsl.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local sigjmp_buf back;
static volatile sig_atomic_t calls;

static void jumps(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static void counts(int number)
{
    (void)number;
    calls++;
}

/* Each rank gets signals whose handler jumps out of it, and communicates after that. */
static int is_jumped(void *unused)
{
    int rank, size, sum;
    (void)unused;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            raise(SIGUSR1);
            return 1;
        }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != size * (size - 1) / 2)
            return 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

/* The program's handler comes after those of the ranks' libraries. */
static int installs(void *unused)
{
    int rank;
    (void)unused;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        signal(SIGUSR1, counts);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        raise(SIGUSR1);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

static int raises(void *number)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        raise(*(int *)number);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

static pthread_barrier_t meet;

static int waits(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return 0;
}

static void *runs_waiting(void *unused)
{
    TPSL_Run(1, waits, NULL, NULL);
    return unused;
}

static void expect(const char *what, int calls_so_far)
{
    struct sigaction now;
    if (calls != calls_so_far) {
        printf("%s: the handler was called %d times, and not %d\n", what, (int)calls, calls_so_far);
        exit(1);
    }
    sigaction(SIGUSR1, NULL, &now);
    if (now.sa_handler != counts && now.sa_handler != jumps) {
        printf("%s: it is not the program's any more\n", what);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int number = SIGUSR1;
    if (strcmp(word, "jumps") == 0) {
        signal(SIGUSR1, jumps);
        for (int i = 0; i < 3; i++)
            if (TPSL_Run(1 + i, is_jumped, NULL, NULL) != 0)
                return 1;
        expect("after jumps", 0);
    } else if (strcmp(word, "installs") == 0) {
        TPSL_Run(2, installs, NULL, NULL);
        expect("after the job", 1);
        raise(SIGUSR1);
        expect("alone", 2);
        TPSL_Run(2, raises, &number, NULL);
        expect("after another job", 3);
    } else if (strcmp(word, "beside") == 0) {
        pthread_t other;
        pthread_barrier_init(&meet, NULL, 2);
        pthread_create(&other, NULL, runs_waiting, NULL);
        pthread_barrier_wait(&meet);
        signal(SIGUSR1, counts);
        raise(SIGUSR1);
        expect("beside a job", 1);
        if (TPSL_Run(2, raises, &number, NULL) != 0 || calls != 2)
            return 1;
        pthread_barrier_wait(&meet);
        pthread_join(other, NULL);
        expect("after both jobs", 2);
    } else if (strcmp(word, "hangup") == 0) {
        number = SIGHUP;
        signal(SIGHUP, counts);
        signal(SIGUSR1, counts);
        TPSL_Run(2, raises, &number, NULL);
        expect("after SIGHUP", 1);
    } else {
        return 2;
    }
    puts("right");
    return 0;
}
