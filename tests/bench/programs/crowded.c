/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * crowded: barrier and sum of all ranks, which may be more than the CPUs. Arguments: the mode,
 * which is only printed, and how many rounds of each. Sums are compared.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void barrier(int rank, int ranks)
{
	(void)rank;
	(void)ranks;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void sum(int rank, int ranks)
{
	int of_all;
	MPI_Allreduce(&rank, &of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (of_all != ranks * (ranks - 1) / 2) {
		fprintf(stderr, "crowded: the sum is %d\n", of_all);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void measure(const char *name, void call(int, int), char **argv)
{
	int rank, ranks, rounds = atoi(argv[2]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	call(rank, ranks);
	double begin = MPI_Wtime();
	for (int i = 0; i < rounds; i++)
		call(rank, ranks);
	if (rank == 0)
		printf("BenchmarkCrowded%s/mode=%s/ranks=%d 1 %.3f us/call\n", name, argv[1], ranks, (MPI_Wtime() - begin) / rounds * 1e6);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
#pragma omp parallel
	{
		MPI_Init(&argc, &argv);
		measure("Barrier", barrier, argv);
		measure("Sum", sum, argv);
		MPI_Finalize();
	}
	return 0;
}
