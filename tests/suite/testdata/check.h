/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * check.h: what every body has: a rank, what is wrong, and a digest.
 */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

struct Check {
    int rank, ranks;
    long wrong = 0, digest = 0;

    Check(int *argc, char ***argv)
    {
        MPI_Init(argc, argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    }

    int left() const { return (rank + ranks - 1) % ranks; }
    int right() const { return (rank + 1) % ranks; }

    void expect(bool ok, const char *what)
    {
        if (ok)
            return;
        wrong++;
        fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
    }

    /* Ends MPI. One line tells what all ranks together found. Returns main's status. */
    int finish(const char *name)
    {
        long n[2] = {digest, wrong};
        MPI_Allreduce(MPI_IN_PLACE, n, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s: %d ranks, digest %ld, %ld wrong\n", name, ranks, n[0], n[1]);
        MPI_Finalize();
        return n[1] != 0;
    }
};

int body(int argc, char **argv);

int main(int argc, char **argv)
{
    int status = 0;
#pragma omp parallel reduction(| : status)
    status = body(argc, argv);
    return status;
}

#endif
