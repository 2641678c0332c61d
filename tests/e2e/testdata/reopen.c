/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * reopen FILE: MPI has closed its descriptors when the file is opened; then the job is
 * ended by a mistake. Nothing may be written into the file.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <fcntl.h>

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    }
    for (int i = 0; i < 8; i++)
        open(argv[1], O_CREAT | O_WRONLY, 0600);
    MPI_Init(&argc, &argv);
    return 0;
}
