// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Two ranks exchange messages, as threads of OpenMP or, without it, as pthreads. The
 * argument names a mistake that they make. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tpsl.h>
#include <unistd.h>

enum { RANKS = 2, WORDS = 1000 };

static const char *mistake = "";
static int counter; /* of all ranks */

static int makes(const char *name) { return strcmp(mistake, name) == 0; }

__attribute__((noinline)) static void overflow(int *buffer) { buffer[WORDS] = 1; }
static char *volatile last;
__attribute__((noinline)) static void leak(void) /* a stale pointer to one of them may be left somewhere */
{
    for (int i = 0; i < 10; i++)
        last = malloc(4321);
    last = NULL;
}
__attribute__((noinline)) static void race(int rank) { counter += rank + 1; }

static void *rank_main(void *slot)
{
    int rank, *out = malloc(WORDS * sizeof *out), *in = malloc(WORDS * sizeof *in);
    TPSL_Init((int)(long)slot);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < WORDS; k++)
            out[k] = rank;
        MPI_Sendrecv(out, WORDS, MPI_INT, 1 - rank, 0, in, WORDS, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (makes("overflow") && rank == 1)
        overflow(in);
    if (makes("leak"))
        leak();
    for (int i = 0; i < 100 && makes("race"); i++) { /* at the same time, with no lock of a library between */
        race(rank);
        usleep(1000);
    }
    if (TPSL_Dlopen("/no/such/library")) /* what went wrong is the thread's to its end */
        abort();
    printf("rank %d heard from rank %d\n", rank, in[WORDS - 1]);
    free(out);
    free(in);
    MPI_Finalize();
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        mistake = argv[1];
#ifdef _OPENMP
#pragma omp parallel for num_threads(RANKS)
    for (long slot = 0; slot < RANKS; slot++)
        rank_main((void *)slot);
#else
    pthread_t threads[RANKS];
    for (long slot = 0; slot < RANKS; slot++)
        pthread_create(&threads[slot], NULL, rank_main, (void *)slot);
    for (int slot = 0; slot < RANKS; slot++)
        pthread_join(threads[slot], NULL);
#endif
    return 0;
}
