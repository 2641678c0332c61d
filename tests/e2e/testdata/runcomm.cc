/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A rank's variable whose destructor runs when the thread of TPSL_Run ends, after MPI_Finalize: it asks before it calls MPI. */
#include <mpi.h>
#include <tpsl.h>

#include <cstdio>

struct communicator {
    MPI_Comm comm = MPI_COMM_NULL;
    ~communicator()
    {
        int begun, over;
        MPI_Initialized(&begun);
        MPI_Finalized(&over);
        if (comm == MPI_COMM_NULL)
            return;
        if (begun && over)
            std::puts("over");
        else
            MPI_Comm_free(&comm);
    }
};
static thread_local communicator own;

static int makes(void *)
{
    return MPI_Comm_dup(MPI_COMM_WORLD, &own.comm);
}

int main()
{
    int begun, over;
    TPSL_Options options = {sizeof options, MPI_THREAD_SINGLE, 1, 0, nullptr};
    if (TPSL_Run(3, makes, nullptr, &options) != 0) /* the caller is one of them, and no rank afterwards */
        return 1;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    own.comm = MPI_COMM_NULL;
    return begun || over;
}
