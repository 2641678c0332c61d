/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * With LIBRARY: a library that says goodbye when its process ends, and who it was.
 * Without: bye [exit]: a program that uses it; with the word, it ends before MPI_Finalize.
 */
#ifdef LIBRARY
#include <stdio.h>
#include <stdlib.h>

static void bye(void)
{
    const char *rank = getenv("PMI_RANK");
    printf("bye of %s\n", rank ? rank : "nobody");
}

__attribute__((constructor)) static void begin(void)
{
    atexit(bye);
}

void greet(void)
{
}
#else
#include <mpi.h>

#include <stdlib.h>

void greet(void);

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        MPI_Init(&argc, &argv);
        greet();
        MPI_Barrier(MPI_COMM_WORLD);
        if (argc == 1)
            MPI_Finalize();
    }
    exit(0);
}
#endif
