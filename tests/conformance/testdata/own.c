/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * own -a X,Y: for each rank of a process, what a flat program has to itself. All ranks meet
 * before they look whether theirs is still there.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong, zero, begun = 7;
int exported = 8;
static char text[64] __attribute__((aligned(64))) = "before";
static const char *const constant = "constant";

#define CHECK(condition)                                                \
    do {                                                                \
        if (!(condition)) {                                             \
            fprintf(stderr, "own.c:%d: %s\n", __LINE__, #condition);    \
            wrong++;                                                    \
        }                                                               \
    } while (0)

static int count(void)
{
    static int calls = 10;
    return ++calls;
}

static void *beside(void *rank)
{
    begun += *(int *)rank;
    return &begun;
}

int main(int argc, char **argv)
{
    int rank, size, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    CHECK(zero == 0 && begun == 7 && exported == 8 && !strcmp(text, "before"));
    CHECK((unsigned long)text % 64 == 0);
    CHECK(optind == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    zero = rank;
    begun = exported = 100 * rank;
    sprintf(text, "rank %d", rank);
    for (int i = 0; i <= rank; i++)
        count();
    srand((unsigned)rank + 1);
    CHECK(getopt(argc, argv, "a:") == 'a');
    MPI_Barrier(MPI_COMM_WORLD);
    char *first = strtok(optarg, ",");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!strcmp(first, "x") && !strcmp(strtok(NULL, ","), "y") && !strtok(NULL, ","));
    CHECK(getopt(argc, argv, "a:") == -1 && optind == 3);

    char expected[64];
    sprintf(expected, "rank %d", rank);
    CHECK(zero == rank && begun == 100 * rank && exported == 100 * rank && !strcmp(text, expected));
    CHECK(count() == 12 + rank && !strcmp(constant, "constant"));
    int drawn = rand();
    srand((unsigned)rank + 1);
    CHECK(rand() == drawn);

    pthread_t thread;
    void *seen;
    CHECK(pthread_create(&thread, NULL, beside, &rank) == 0);
    CHECK(pthread_join(thread, &seen) == 0);
    CHECK(seen == &begun && begun == 101 * rank);

    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d wrong\n", size, all);
    MPI_Finalize();
    return rank;
}
