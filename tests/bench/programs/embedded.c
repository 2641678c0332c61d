/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * embedded MODE RANKS EDGE: how long the solver of examples/solver takes on some ranks. Built by tpslcc, the program is no MPI program
 * and starts the ranks by TPSL_Run, on the CPUs of BENCH_CPUS; built by mpicc, it is one rank, and mpiexec starts them. All times are
 * those of the slowest rank, without the start.
 */

#include "poisson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOLUTIONS = 3 }; /* that are timed, after a first one */

static const char *mode;
static int edge;

static int solve(void *unused)
{
	double seconds = 0;
	int rank, ranks;

	(void)unused;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i <= SOLUTIONS; i++) {
		struct poisson_report r = poisson_solve(MPI_COMM_WORLD, edge);

		if (!(r.error < 1e-6)) {
			fprintf(stderr, "embedded: a wrong solution\n");
			return 1;
		}
		seconds += i > 0 ? r.seconds : 0;
	}
	if (rank == 0)
		printf("BenchmarkEmbedded/mode=%s/ranks=%d/size=%d %d %.4f us/solution\n", mode, ranks, edge, SOLUTIONS, seconds / SOLUTIONS * 1e6);
	return 0;
}

#ifdef TPSL_H
static int run_ranks(int ranks)
{
	char cpus[1000];
	struct TPSL_Options options = { .size = sizeof options, .cpus = cpus };

	snprintf(cpus, sizeof cpus, "%s", getenv("BENCH_CPUS"));
	for (char *comma; (comma = strchr(cpus, ','));)
		*comma = ';';
	return TPSL_Run(ranks, solve, NULL, &options);
}
#else
static int run_ranks(int ranks)
{
	(void)ranks;
	MPI_Init(NULL, NULL);
	int result = solve(NULL);
	MPI_Finalize();
	return result;
}
#endif

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	mode = argv[1];
	edge = atoi(argv[3]);
	return run_ranks(atoi(argv[2]));
}
