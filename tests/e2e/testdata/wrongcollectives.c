// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * Collective operations with wrong arguments, at all ranks the same: prints the classes of their errors. With an argument
 * rank 1 calls another operation than the others: 1, a barrier while they sum up; 2, a broadcast while they sum up at a root.
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
    else if (*argc > 1 && rank == 1)
        MPI_Bcast(in, 4, MPI_DOUBLE, 2, comm);
    else if (*argc > 1)
        MPI_Reduce(in, out, 4, MPI_DOUBLE, MPI_SUM, 0, comm);
    say("root", MPI_Bcast(in, 1, MPI_DOUBLE, size, comm));
    say("negative root", MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, -1, comm));
    say("count", MPI_Bcast(in, -1, MPI_DOUBLE, 0, comm));
    say("no buffer", MPI_Allreduce(NULL, out, 4, MPI_DOUBLE, MPI_SUM, comm));
    say("one buffer", MPI_Allreduce(in, in, 4, MPI_DOUBLE, MPI_SUM, comm));
    say("operation", MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_OP_NULL, comm));
    say("operation on doubles", MPI_Allreduce(in, out, 4, MPI_DOUBLE, MPI_BAND, comm));
    say("datatype", MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, comm));
    say("result in place", MPI_Allreduce(in, MPI_IN_PLACE, 1, MPI_DOUBLE, MPI_SUM, comm));
    MPI_Barrier(comm);
    code = MPI_Bcast(much, rank == 1 ? 1 : 2, MPI_LONG, 0, comm); /* rank 1 has room for 1 of 2 */
    if (rank == 1)
        say("too much", code);
    MPI_Barrier(comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    say("communicator", MPI_Barrier(MPI_COMM_NULL));
    MPI_Comm_free(&comm);
    MPI_Finalize();
}
