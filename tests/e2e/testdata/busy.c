// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Two ranks that do little but call MPI_Type_size, for a second. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
#pragma omp parallel
    {
        int size;
        MPI_Init(NULL, NULL);
        for (double end = MPI_Wtime() + 1; MPI_Wtime() < end;)
            for (int i = 0; i < 10000; i++)
                MPI_Type_size(MPI_INT, &size);
        MPI_Finalize();
    }
    return 0;
}
