/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * flat EDGE...: an ordinary MPI program that solves Poisson's equation for each edge, on all its ranks.
 */

#include "poisson.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 1; i < argc; i++) {
		struct poisson_report r = poisson_solve(MPI_COMM_WORLD, atoi(argv[i]));

		if (rank == 0)
			printf("edge %s, %d rank%s: %d iterations, error %.17g, %.3f s\n", argv[i], ranks, ranks == 1 ? "" : "s", r.iterations, r.error, r.seconds);
	}
	MPI_Finalize();
	return 0;
}
