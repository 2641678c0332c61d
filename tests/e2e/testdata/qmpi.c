/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * qmpi: a tool of MPICH's QMPI interface registers in a constructor, where no thread is a
 * rank yet. Debian's MPICH is built without QMPI and says so.
 */
#include <mpi.h>

#include <stdio.h>

static int answer = -1;

static void begin(int tool)
{
    (void)tool;
}

__attribute__((constructor)) static void register_tool(void)
{
    answer = QMPI_Register_tool_name("tool", begin);
}

int main(void)
{
    int initialized = -1;
    MPI_Initialized(&initialized);
    printf("%d %d\n", initialized, answer == MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_Init(NULL, NULL);
    printf("%d\n", QMPI_Register_tool_name("tool", begin) == answer);
    return MPI_Finalize();
}
