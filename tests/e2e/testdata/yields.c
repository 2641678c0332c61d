/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* yields: whether libtpslyield is in the process, after messages of all ranks with all. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char *loaded(void)
{
	char line[4096];
	const char *found = "no";
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps))
		if (strstr(line, "/libtpslyield.so"))
			found = "yes";
	fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
#pragma omp parallel
	{
		int rank, ranks, sum = 0;
		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &ranks);
		for (int i = 0; i < 50; i++) {
			MPI_Barrier(MPI_COMM_WORLD);
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		}
		if (rank == 0)
			printf("sum %d, %s\n", sum, loaded());
		MPI_Finalize();
	}
	return 0;
}
