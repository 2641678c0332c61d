/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * opener: a program that is not linked with MPI, and opens the library named on its command line.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank = -1, size = -1;
    void *mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (!mpi) {
        fprintf(stderr, "opener: %s\n", dlerror());
        return 1;
    }
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(mpi, "MPI_Init");
    int (*comm_rank)(int, int *) = (int (*)(int, int *))dlsym(mpi, "MPI_Comm_rank");
    int (*comm_size)(int, int *) = (int (*)(int, int *))dlsym(mpi, "MPI_Comm_size");
    int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    const int world = 0x44000000; /* MPI_COMM_WORLD in the MPICH ABI */
    if (!init || !comm_rank || !comm_size || !finalize || init(&argc, &argv) || comm_rank(world, &rank) || comm_size(world, &size))
        return 1;
    printf("rank %d of %d\n", rank, size);
    return finalize();
}
