/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>

#include <omp.h>
#include <cstdio>

int main(int argc, char **argv)
{
#pragma omp parallel
	{
		int rank, sum;

		MPI_Init(&argc, &argv, omp_get_thread_num());
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		printf("rank %d, slot %d, sum %d\n", rank, TPSL_Slot(), sum);
		MPI_Finalize();
	}
	return 0;
}
