/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * faces: two neighbours exchange faces for SECONDS, by two threads each way: "ranks", every thread is a rank; "threads",
 * two processes of THREAD_MULTIPLE, their threads told apart by tags. Prints "ready" when the first has arrived.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACE = 512 };

static void exchange(int peer, int tag, double seconds)
{
    double out[FACE] = { 0 }, in[FACE], end = MPI_Wtime() + seconds;
    int rank, more = 1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int first = 1; more; first = 0) {
        out[0] = MPI_Wtime() < end;
        MPI_Sendrecv(out, FACE, MPI_DOUBLE, peer, tag, in, FACE, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        more = out[0] && in[0]; /* both know both */
        if (first && rank == 0 && tag == 0) {
            puts("ready");
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    int provided, rank;

    if (argc == 3 && strcmp(argv[1], "ranks") == 0) {
#pragma omp parallel private(rank)
        {
            MPI_Init(&argc, &argv);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            exchange(rank ^ 1, 0, atof(argv[2]));
            MPI_Finalize();
        }
        return 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
    exchange(rank ^ 1, omp_get_thread_num(), atof(argv[2]));
    MPI_Finalize();
    return 0;
}
