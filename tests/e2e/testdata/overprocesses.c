// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * overprocesses N [WORD]: makes N communicators, one after the other, of all ranks in backward order. In each of them ranks add up numbers whose sum
 * depends on the order of additions, few of them and many. They free it while a message is on its way. Rank 0 prints the sums, and ends
 * the job if another rank has others. With WORD rank 0 calls another operation than the others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each_rank.h"

enum { MANY = 100, LARGE = 1 << 17 };

struct sums {
    double few, many[MANY], rooted[MANY];
};

static void add_up(MPI_Comm comm, int root, struct sums *sums)
{
    double numbers[MANY];
    int rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < MANY; i++)
        numbers[i] = 1.0 / (3 + 7 * rank + i) * (rank % 2 ? 1e9 : 1);
    MPI_Allreduce(numbers, &sums->few, 1, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(sums->many, numbers, sizeof numbers);
    MPI_Allreduce(MPI_IN_PLACE, sums->many, MANY, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Reduce(numbers, sums->rooted, MANY, MPI_DOUBLE, MPI_SUM, root, comm);
    MPI_Bcast(sums->rooted, MANY, MPI_DOUBLE, root, comm);
}

/* To the right neighbour: too large to go without the neighbour's help. */
static void start_message(MPI_Comm comm, int rank, int size, const char *sent, char *received, MPI_Request requests[2])
{
    MPI_Irecv(received, LARGE, MPI_BYTE, (rank + 1) % size, 1, comm, &requests[0]); /* numbers are backward */
    MPI_Isend(sent, LARGE, MPI_BYTE, (rank + size - 1) % size, 1, comm, &requests[1]);
}

static void be_rank(int *argc, char ***argv)
{
    int rank, size, root;
    struct sums sums, first;
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    char *sent = calloc(1, LARGE), *received = calloc(1, LARGE);

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = atoi((*argv)[1]); i > 0; i--) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        add_up(comm, root = i % size, &sums);
        first = sums;
        MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
        if (memcmp(&first, &sums, sizeof sums)) {
            fprintf(stderr, "rank %d has other sums\n", rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        if (*argc > 2 && rank == 0)
            MPI_Barrier(comm);
        else if (*argc > 2)
            MPI_Allreduce(&sums.few, &sums.many, 1, MPI_DOUBLE, MPI_SUM, comm);
        start_message(comm, size - 1 - rank, size, sent, received, requests);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, statuses);
    }
    if (rank == 0)
        printf("%a %a %a\n", sums.few, sums.many[1], sums.rooted[2]);
    fflush(stdout);
    MPI_Finalize();
}
