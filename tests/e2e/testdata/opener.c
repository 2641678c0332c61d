/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * opener: a program that is not linked with MPI, and opens the library named on its command line. Its threads are ranks if
 * it is compiled with -fopenmp.
 */
#include <dlfcn.h>
#include <stdio.h>

static void be_rank(void *mpi)
{
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(mpi, "MPI_Init");
    int (*comm_rank)(int, int *) = (int (*)(int, int *))dlsym(mpi, "MPI_Comm_rank");
    int (*comm_size)(int, int *) = (int (*)(int, int *))dlsym(mpi, "MPI_Comm_size");
    int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    const int world = 0x44000000; /* MPI_COMM_WORLD in the MPICH ABI */
    int rank = -1, size = -1;
    if (!init || !comm_rank || !comm_size || !finalize || init(NULL, NULL) || comm_rank(world, &rank) || comm_size(world, &size))
        fprintf(stderr, "opener: no rank\n");
    printf("rank %d of %d\n", rank, size);
    finalize();
}

int main(int argc, char **argv)
{
    void *mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!mpi) {
        fprintf(stderr, "opener: %s\n", dlerror());
        return 1;
    }
#pragma omp parallel
    be_rank(mpi);
    return 0;
}
