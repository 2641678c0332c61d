/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * ranks: collectives and a ring over all ranks, checked, and whether the unmapping
 * of memory by one rank is heard by every instance.
 */
#include <mpi.h>

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void check(int ok, const char *what, int rank)
{
    if (ok)
        return;
    printf("rank %d: %s is wrong\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void collectives(int rank, int size)
{
    long sum = 0, mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(sum == (long)size * (size + 1) / 2, "Allreduce", rank);

    int *out = malloc((size_t)size * sizeof *out), *in = malloc((size_t)size * sizeof *in);
    for (int i = 0; i < size; i++)
        out[i] = rank * 1000 + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        check(in[i] == i * 1000 + rank, "Alltoall", rank);
    free(out);
    free(in);
}

static void ring(int rank, int size)
{
    enum { N = 32768 }; /* ints: beyond eager */
    int *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < N; i++)
        out[i] = rank ^ i;
    MPI_Sendrecv(out, N, MPI_INT, to, 7, in, N, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        check(in[i] == (from ^ i), "ring", rank);
    free(out);
    free(in);
}

/* As in ucm/api/ucm.h. */
enum { VM_UNMAPPED = 1 << 17 };
struct event {
    void *address;
    size_t size;
};
typedef void handler(int type, struct event *, void *arg);

static void *watched;

static void heard(int type, struct event *e, void *arg)
{
    (void)type;
    if (e->address == watched)
        *(int *)arg = 1;
}

static void unmapping(int rank)
{
    int (*set)(int, int, handler *, void *) = TPSL_Symbol(TPSL_Slot(), "ucm_set_event_handler");
    void (*unset)(int, handler *, void *) = TPSL_Symbol(TPSL_Slot(), "ucm_unset_event_handler");
    int me = 0;
    check(set(VM_UNMAPPED, 1000, heard, &me) == 0, "ucm_set_event_handler", rank);
    if (TPSL_Slot() == 0)
        watched = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (TPSL_Slot() == 0)
        munmap(watched, 1 << 20);
    MPI_Barrier(MPI_COMM_WORLD);
    check(me, "munmap unheard: the registration cache", rank);
    unset(VM_UNMAPPED, heard, &me);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int size = 0;
#pragma omp parallel
    {
        int rank, n;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        collectives(rank, n);
        ring(rank, n);
        unmapping(rank);
        if (rank == 0)
            size = n;
        MPI_Finalize();
    }
    if (size)
        printf("ranks: %d ranks right\n", size);
    return 0;
}
