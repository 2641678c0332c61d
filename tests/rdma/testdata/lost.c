// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Two ranks that have talked to each other go on to "send", "wait" for what never comes, or "end". With OpenMP they are threads.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void talk(const char *what)
{
	int rank, word = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10 || !strcmp(what, "send"); i++) {
		MPI_Sendrecv_replace(&word, 1, MPI_INT, !rank, 0, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i == 9 && rank == 0) {
			puts("talking");
			fflush(stdout);
		}
	}
	if (rank == 0 && !strcmp(what, "end"))
		MPI_Abort(MPI_COMM_WORLD, 0); /* MPICH 4.0.2 may hang in MPI_Finalize over TCP */
	MPI_Recv(&word, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
#ifdef _OPENMP
#pragma omp parallel
#endif
	{
		MPI_Init(&argc, &argv);
		talk(argv[1]);
		MPI_Finalize();
	}
}
