// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The same collective operations by the names of C at some ranks, and by those of Fortran at the others. */
#include <mpi.h>
#include <stdio.h>

void mpi_barrier_(MPI_Fint *comm, MPI_Fint *error);
void mpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *error);
void mpi_allreduce_(void *from, void *to, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *error);

static void be_rank(int *argc, char ***argv)
{
    MPI_Fint comm = MPI_Comm_c2f(MPI_COMM_WORLD), type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM), one = 1, root = 0, error;
    int rank, sum = 0, told;

    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    told = rank == 0 ? 42 : 0;
    if (rank % 2) {
        mpi_barrier_(&comm, &error);
        mpi_bcast_(&told, &one, &type, &root, &comm, &error);
        mpi_allreduce_(&rank, &sum, &one, &type, &op, &comm, &error);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d: %d, %d\n", rank, told, sum);
    fflush(stdout);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        int n = argc;
        char **v = argv;
        be_rank(&n, &v);
    }
    return 0;
}
