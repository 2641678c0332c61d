/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * data: a variable of the MPI library is one for the program and all ranks: what the
 * program stores, every rank's library sees.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>

static MPI_Fint ignored[16];

int main(int argc, char **argv)
{
    MPI_F_STATUS_IGNORE = ignored;
#pragma omp parallel
    {
        int rank;
        MPI_Status status;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        /* MPI 4.0, section 18.2.5: f_status must not be MPI_F_STATUS_IGNORE. */
        int known = MPI_Status_f2c(ignored, &status) != MPI_SUCCESS;
        printf("rank %d: %s\n", rank, known ? "same variable" : "another variable");
        MPI_Finalize();
    }
    return 0;
}
