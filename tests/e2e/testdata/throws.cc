// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of the program that the MPI library calls throw, and the program catches
 * around the MPI call. */
#include <mpi.h>

#include <cstdio>

struct thrown {
    const char *what;
};

static void operation(void *, void *, int *, MPI_Datatype *) { throw thrown{"operation"}; }
static int copy(MPI_Comm, int, void *, void *, void *, int *) { throw thrown{"copy"}; }
static int remove_(MPI_Comm, int, void *, void *) { throw thrown{"delete"}; }
static void handler(MPI_Comm *, int *, ...) { throw thrown{"handler"}; }

template <typename Call> static void catching(int rank, Call call)
{
    try {
        call();
        std::printf("rank %d: nothing thrown\n", rank);
    } catch (const thrown &t) {
        std::printf("rank %d: %s\n", rank, t.what);
    }
}

static void rank_main()
{
    MPI_Init(nullptr, nullptr);
    int rank, key, one = 1, two = 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Errhandler errors;
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors);
    for (int i = 0; i < 2; i++)
        catching(rank, [&] { MPI_Send(&one, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); });

    MPI_Comm mine, other;
    MPI_Comm_dup(MPI_COMM_SELF, &mine);
    MPI_Comm_create_keyval(copy, remove_, &key, nullptr);
    MPI_Comm_set_attr(mine, key, &one);
    catching(rank, [&] { MPI_Comm_dup(mine, &other); });
    catching(rank, [&] { MPI_Comm_delete_attr(mine, key); });

    MPI_Op sum;
    MPI_Op_create(operation, 1, &sum);
    catching(rank, [&] { MPI_Reduce_local(&one, &two, 1, MPI_INT, sum); });
#ifdef TPSL
    TPSL_Switch(TPSL_Slot()); // TPSL_CHECK=1: no call is left that the thread would be inside of
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

int main()
{
#pragma omp parallel
    rank_main();
}
