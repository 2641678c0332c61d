// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Rank 0 runs a command of the shell, for which $PPID is this process, while the
 * others wait for it in MPI_Bcast. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static int done; /* one for all ranks */

int main(int argc, char **argv)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* Yama would let no debugger in */
#pragma omp parallel
    {
        int rank;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp barrier
        if (rank == 0) {
            usleep(300000); /* the others are in MPI_Bcast by then */
            done = system(argv[1]) == 0 ? 1 : 2;
        }
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return done - 1;
}
