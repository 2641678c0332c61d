// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Two ranks that do little but call MPI_Type_size, for half a second of CPU time each. */
#include <mpi.h>
#include <time.h>

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
#pragma omp parallel
    {
        int size;
        MPI_Init(NULL, NULL);
        for (double end = used() + 0.5; used() < end;)
            for (int i = 0; i < 10000; i++)
                MPI_Type_size(MPI_INT, &size);
        MPI_Finalize();
    }
    return 0;
}
