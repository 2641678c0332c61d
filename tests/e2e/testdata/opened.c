/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * opened LIBRARY: ranks of a process open a library by dlopen after MPI_Init. It is the process's, so it counts all of them.
 * With LIBRARY defined it is this library.
 */
#ifdef LIBRARY
#include <stdatomic.h>

int count(void)
{
    static atomic_int calls;
    return ++calls;
}
#else
#include <mpi.h>

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int ranks = TPSL_Local_size(), calls = 0;
#pragma omp parallel num_threads(ranks)
    {
        MPI_Init(&argc, &argv);
        void *library = dlopen(argv[1], RTLD_NOW);
        int (*count)(void) = library ? (int (*)(void))dlsym(library, "count") : NULL;
#pragma omp critical
        {
            int n = count ? count() : -1;
            calls = n > calls ? n : calls;
        }
#pragma omp barrier
        if (!library || dlclose(library) != 0)
            printf("%s\n", dlerror());
        MPI_Finalize();
    }
    printf("%d calls\n", calls);
    return 0;
}
#endif
