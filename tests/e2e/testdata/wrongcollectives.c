// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * Collective operations with wrong arguments, at all ranks the same: prints the classes of their errors. With an argument
 * rank 1 calls another operation than the others: 1, a barrier while they sum up; 2, a broadcast while they sum up at a root; 3, a
 * scan while they give all to all; 4, a sum by an operation of its own, which no rank serves, while they gather.
 */
#include <mpi.h>
#include <stdio.h>

#include "each_rank.h"

static void say(const char *what, int code)
{
    int class, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Error_class(code, &class);
    printf("rank %d: %s: %d\n", rank, what, class);
    fflush(stdout);
}

/* Wrong arguments at all ranks, of which there are at most four, in each operation that moves blocks. */
static void blocks(MPI_Comm comm, int size)
{
    int in[8] = {0}, out[8], minus[] = {1, -1, 1, 1}, ones[] = {1, 1, 1, 1}, at[] = {0, 1, 2, 3};
    MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}, none[] = {MPI_INT, MPI_DATATYPE_NULL, MPI_INT, MPI_INT}, raw;

    MPI_Type_contiguous(2, MPI_INT, &raw); /* not committed */
    say("gather root", MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size, comm));
    say("gather count", MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm));
    say("gather datatype", MPI_Gather(in, 1, raw, out, 2, MPI_INT, 0, comm));
    say("gatherv root", MPI_Gatherv(in, 1, MPI_INT, out, ones, at, MPI_INT, -1, comm));
    say("scatter root", MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, size, comm));
    say("scatter count", MPI_Scatter(in, 1, MPI_INT, out, -1, MPI_INT, 0, comm));
    say("scatterv root", MPI_Scatterv(in, ones, at, MPI_INT, out, 1, MPI_INT, -1, comm));
    say("allgather count", MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, comm));
    say("allgather datatype", MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
    say("allgather no buffer", MPI_Allgather(NULL, 1, MPI_INT, out, 1, MPI_INT, comm));
    say("allgather received in place", MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm));
    say("allgatherv count", MPI_Allgatherv(in, 1, MPI_INT, out, minus, at, MPI_INT, comm));
    say("alltoall count", MPI_Alltoall(in, 1, MPI_INT, out, -1, MPI_INT, comm));
    say("alltoall one buffer", MPI_Alltoall(in, 1, MPI_INT, in, 1, MPI_INT, comm));
    say("alltoall datatype", MPI_Alltoall(in, 1, raw, out, 2, MPI_INT, comm));
    say("alltoallv count", MPI_Alltoallv(in, minus, at, MPI_INT, out, ones, at, MPI_INT, comm));
    say("alltoallw datatype", MPI_Alltoallw(in, ones, at, none, out, ones, at, types, comm));
    MPI_Type_free(&raw);
}

/* The same in operations on numbers. */
static void numbers(MPI_Comm comm)
{
    double in[8] = {1}, out[8];
    int minus[] = {1, -1, 1, 1}, ones[] = {1, 1, 1, 1};

    say("reduce_scatter count", MPI_Reduce_scatter(in, out, minus, MPI_DOUBLE, MPI_SUM, comm));
    say("reduce_scatter one buffer", MPI_Reduce_scatter(in, in, ones, MPI_DOUBLE, MPI_SUM, comm));
    say("reduce_scatter operation", MPI_Reduce_scatter(in, out, ones, MPI_DOUBLE, MPI_BAND, comm));
    say("reduce_scatter_block in place", MPI_Reduce_scatter_block(in, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, comm));
    say("scan no buffer", MPI_Scan(in, NULL, 1, MPI_DOUBLE, MPI_SUM, comm));
    say("scan operation", MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_MINLOC, comm));
    say("exscan one buffer", MPI_Exscan(in, in, 1, MPI_DOUBLE, MPI_SUM, comm));
    say("exscan datatype", MPI_Exscan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
}

/* Wrong arguments at one rank: the others, which do not need its part, go on. They meet afterwards. */
static void alone(MPI_Comm comm, int rank)
{
    int in[3] = {1, 2, 3}, out[3] = {0}, some[100] = {0};

    say("gather at the root", MPI_Gather(in, 1, MPI_INT, out, rank == 0 ? -1 : 1, MPI_INT, 0, comm));
    say("scatter at a leaf", MPI_Scatter(in, 1, MPI_INT, out, rank == 1 ? -1 : 1, MPI_INT, 0, comm));
    say("bcast at a leaf", MPI_Bcast(some, rank == 1 ? -1 : 100, MPI_INT, 0, comm));
    MPI_Barrier(comm);
}

static void sum(void *from, void *to, int *n, MPI_Datatype *type) {}

static void be_rank(int *argc, char ***argv)
{
    double in[4] = {1, 2, 3, 4}, out[4];
    long much[300] = {0};
    int size, rank, code;
    MPI_Comm comm;

    MPI_Init(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* those of the world end the job */
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    if (*argc > 1 && (*argv)[1][0] == '1' && rank == 1)
        MPI_Barrier(comm);
    else if (*argc > 1 && (*argv)[1][0] == '1')
        MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    else if (*argc > 1 && (*argv)[1][0] == '2' && rank == 1)
        MPI_Bcast(in, 4, MPI_DOUBLE, 2, comm);
    else if (*argc > 1 && (*argv)[1][0] == '2')
        MPI_Reduce(in, out, 4, MPI_DOUBLE, MPI_SUM, 0, comm);
    else if (*argc > 1 && (*argv)[1][0] == '3' && rank == 1)
        MPI_Scan(in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    else if (*argc > 1 && (*argv)[1][0] == '3')
        MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
    else if (*argc > 1 && rank == 1) {
        MPI_Op own;
        MPI_Op_create(sum, 1, &own);
        MPI_Allreduce(in, out, 4, MPI_DOUBLE, own, comm);
    } else if (*argc > 1)
        MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, comm);
    say("root", MPI_Bcast(in, 1, MPI_DOUBLE, size, comm));
    say("negative root", MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, -1, comm));
    say("count", MPI_Bcast(in, -1, MPI_DOUBLE, 0, comm));
    say("no buffer", MPI_Allreduce(NULL, out, 4, MPI_DOUBLE, MPI_SUM, comm));
    say("one buffer", MPI_Allreduce(in, in, 4, MPI_DOUBLE, MPI_SUM, comm));
    say("operation", MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_OP_NULL, comm));
    say("operation on doubles", MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_BAND, comm));
    say("datatype", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
    say("result in place", MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, comm));
    blocks(comm, size);
    numbers(comm);
    MPI_Barrier(comm);
    code = MPI_Bcast(much, rank == 1 ? 1 : 2, MPI_LONG, 0, comm); /* rank 1 has room for 1 of 2 */
    if (rank == 1)
        say("too much", code);
    MPI_Barrier(comm);
    code = MPI_Bcast(much, rank == size - 1 ? 100 : 200, MPI_LONG, 0, comm); /* the last rank may be the only one of its process */
    if (rank == size - 1)
        say("too much for the last rank", code);
    MPI_Barrier(comm);
    alone(comm, rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say("communicator", MPI_Barrier(MPI_COMM_NULL));
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
