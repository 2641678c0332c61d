/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * pin [early|own]: the CPUs of every rank's thread, after MPI_Init ("first") and after its
 * team shrank and grew again ("again"). early: the first thread makes its instance before
 * the others exist. own: the program has chosen CPU 1 for itself.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static void show(const char *when)
{
    cpu_set_t set;
    char list[256] = "";
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < 16; i++)
        if (CPU_ISSET(i, &set))
            snprintf(list + strlen(list), sizeof list - strlen(list), " %d", i);
    printf("%s rank %d:%s\n", when, rank, list);
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, n = omp_get_max_threads();
    if (argc > 1 && strcmp(argv[1], "early") == 0)
        MPI_Get_library_version(version, &length);
    if (argc > 1 && strcmp(argv[1], "own") == 0) {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(1, &mine);
        sched_setaffinity(0, sizeof mine, &mine);
    }
#pragma omp parallel
    {
        MPI_Init(&argc, &argv, omp_get_thread_num());
        show("first");
    }
#pragma omp parallel num_threads(2)
    {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
#pragma omp parallel num_threads(n)
    {
        show("again");
        MPI_Finalize();
    }
    return 0;
}
