/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * pair.h: two ends that send to each other, in each mode:
 *
 *   flat, private, tpsl
 *                every OpenMP thread is a rank; the ends are ranks 0 and 1
 *   threaded     one rank with MPI_THREAD_MULTIPLE; the ends are its threads 0
 *                and 1, told apart by tags
 */

#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct end {
	int me, peer;          /* 0 or 1; MPI rank of the other */
	int sendtag, recvtag;
	const char *mode;
};

static void wrong(const char *what)
{
	fprintf(stderr, "%s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int run_pair(int argc, char **argv, void (*run)(const struct end *))
{
	const char *mode = argc == 2 ? argv[1] : "";

	if (strcmp(mode, "threaded") == 0) {
		int provided;

		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
		if (provided != MPI_THREAD_MULTIPLE)
			wrong("no MPI_THREAD_MULTIPLE");
#pragma omp parallel num_threads(2)
		{
			int me = omp_get_thread_num();

			run(&(struct end){ me, 0, me, 1 - me, mode });
		}
		MPI_Finalize();
	} else if (strcmp(mode, "flat") == 0 || strcmp(mode, "private") == 0 || strcmp(mode, "tpsl") == 0) {
#pragma omp parallel
		{
			int me, ranks;

			MPI_Init(&argc, &argv);
			MPI_Comm_rank(MPI_COMM_WORLD, &me);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			if (ranks != 2)
				wrong("needs two ranks");
			run(&(struct end){ me, 1 - me, 0, 0, mode });
			MPI_Finalize();
		}
	} else {
		fprintf(stderr, "usage: %s flat|private|tpsl|threaded\n", argv[0]);
		return 2;
	}
	return 0;
}
