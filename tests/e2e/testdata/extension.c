// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* extension LIBRARY: a program that is not linked with MPI opens a library that is, for itself alone, as Python opens its
 * extension modules. This file is the library, too (-DLIBRARY). */
#ifdef LIBRARY
#include <mpi.h>
#include <stdio.h>

int begin(void), end(void);

int begin(void)
{
    int rank, size, sum;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: %d\n", rank, size, sum);
    return 0;
}

/* A jump in place of a call, so that MPI_Finalize returns to the program. */
int end(void)
{
    return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return 2;
    int begun = ((int (*)(void))dlsym(library, "begin"))();
    int ended = ((int (*)(void))dlsym(library, "end"))();
    return begun + ended;
}
#endif
