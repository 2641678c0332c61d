/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each rank says which it is, which process it is in, and which file the kernel
 * executes there: private mode hides from readlink that this is the host.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char file[4096];
	long length = syscall(SYS_readlink, "/proc/self/exe", file, sizeof file - 1);

	if (length < 0)
		return 1;
	file[length] = 0;
#pragma omp parallel
	{
		int rank, size;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
		printf("rank %d of %d in process %ld of %s\n", rank, size, (long)getpid(), strrchr(file, '/') + 1);
		MPI_Finalize();
	}
}
