/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* hello: every OpenMP thread is a rank. */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
#pragma omp parallel
	{
		int rank, size;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
		printf("hello from rank %d of %d: thread %d of process %ld\n",
		       rank, size, omp_get_thread_num(), (long)getpid());
		MPI_Finalize();
	}
	return 0;
}
