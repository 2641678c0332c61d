/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* startup: MPI_Init, MPI_Barrier, MPI_Finalize; rank 0 tells the number of ranks. */

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
#pragma omp parallel
	{
		int rank, ranks;

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &ranks);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			printf("%d ranks\n", ranks);
		MPI_Finalize();
	}
	return 0;
}
