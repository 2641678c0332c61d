/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * newer: calls functions of an MPI library that are newer than libtpsl's list, by itself and by the library's binding for
 * Fortran. With BINDING it is this binding; with LIBRARY it is the MPI library. With LACKING the program calls a function
 * that the library has not.
 */
#include <stdio.h>

#ifdef LIBRARY
static int answer;

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    answer += 42;
    return 0;
}

int MPI_Init(int *argc, char ***argv) __attribute__((alias("PMPI_Init")));

int MPI_Finalize(void)
{
    return 0;
}

int PMPI_Newer(int *value)
{
    *value = answer;
    return 0;
}

int MPI_Newer(int *value) __attribute__((alias("PMPI_Newer")));

int MPII_Newer_inside(void)
{
    return answer + 1;
}
#else

int MPI_Newer(int *value);
int PMPI_Newer(int *value);
int MPII_Newer_inside(void);
int mpi_newer_(void);

#ifdef BINDING
int mpi_newer_(void)
{
    return MPII_Newer_inside();
}
#else
#include <mpi.h>

int main(int argc, char **argv)
{
#ifdef LACKING
    MPI_Barrier(MPI_COMM_WORLD);
#endif
#pragma omp parallel num_threads(2)
    {
        int value = -1;
        MPI_Init(&argc, &argv);
        PMPI_Newer(&value);
#pragma omp critical
        printf("%d %d %s\n", value, mpi_newer_(), MPI_Newer == PMPI_Newer ? "same" : "different");
        MPI_Finalize();
    }
    return 0;
}
#endif
#endif
