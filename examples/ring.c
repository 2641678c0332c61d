/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * ring: a token visits every rank and comes back to rank 0. Each rank adds
 * its number, so the sum tells whether every rank was there exactly once.
 */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int failed = 0;

#pragma omp parallel reduction(| : failed)
	{
		int rank, size;
		long token = 0;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);

		int next = (rank + 1) % size;
		int prev = (rank + size - 1) % size;

		if (rank == 0) {
			MPI_Sendrecv_replace(&token, 1, MPI_LONG, next, 0, prev, 0,
					     MPI_COMM_WORLD, MPI_STATUS_IGNORE);

			long want = (long)size * (size - 1) / 2;

			printf("ring: %d ranks, sum %ld, expected %ld\n", size, token, want);
			failed = token != want;
		} else {
			MPI_Recv(&token, 1, MPI_LONG, prev, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			token += rank;
			MPI_Send(&token, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
		}
		MPI_Finalize();
	}
	return failed;
}
