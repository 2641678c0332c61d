/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * standin: an ordinary MPICH program. Its threads are ranks if a stand-in takes the place of the MPI library. One line
 * per rank: what it, a library that was linked with MPICH, and a thread that it made know of it; and how often the code
 * of a real MPI library is mapped.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY

int third_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

#else

int third_rank(void);

static int mapped(const char *library)
{
    char line[4096];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        n += strstr(line, " r-xp ") && strstr(line, library);
    fclose(maps);
    return n;
}

static void *helper(void *rank)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return NULL;
}

int main(int argc, char **argv)
{
    int (*opened)(void) = argc > 1 ? (int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "third_rank") : third_rank;
#pragma omp parallel
    {
        int rank, size, helped;
        pthread_t thread;
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        if (pthread_create(&thread, NULL, helper, &helped) || pthread_join(thread, NULL))
            abort();
        MPI_Barrier(MPI_COMM_WORLD);
        printf("rank %d of %d, library %d, thread %d, %d real\n", rank, size, opened(), helped, mapped("/libmpich.so.12."));
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return 0;
}

#endif
