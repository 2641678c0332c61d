// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// An MPI program that ends in the way that its first argument names; its last rank is the one that misbehaves.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void misbehave(const char *how, int code)
{
    if (!strcmp(how, "abort")) {
        for (int i = 0; i < 20000; i++)
            printf("line %d\n", i);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    if (!strcmp(how, "exit"))
        _exit(code);
    if (!strcmp(how, "signal")) {
        printf("unfinished");
        fflush(stdout);
        signal(code, SIG_DFL);
        kill(getpid(), code);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "hello";
    int code = argc > 2 ? atoi(argv[2]) : 0, rank, size, sum;

    if (!strcmp(how, "early") && atoi(getenv("PMI_RANK")) == atoi(getenv("PMI_SIZE")) - 1)
        return code;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d, sum %d\n", rank, size, sum);
    fflush(stdout);
    if (rank == size - 1)
        misbehave(how, code);
    if (strcmp(how, "hello") && strcmp(how, "late"))
        sleep(60);
    MPI_Finalize();
    return rank == size - 1 ? code : 0;
}
