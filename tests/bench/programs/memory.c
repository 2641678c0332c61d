/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * memory MODE K: what a rank takes, with K ranks in an address space: its part of the pages that
 * processes share (PSS), and of page tables, after every rank has heard from every other.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line "NAME: N kB" of a file in /proc. */
static double kilobytes(const char *file, const char *name)
{
	FILE *f = fopen(file, "r");
	char line[256];
	double value = -1;

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = atof(line + strlen(name));
	if (value < 0)
		wrong(file);
	fclose(f);
	return value;
}

static void greet_all(int me, int ranks)
{
	int *out = allocate(ranks * sizeof *out), *in = allocate(ranks * sizeof *in);

	for (int r = 0; r < ranks; r++)
		out[r] = me * ranks + r;
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0; r < ranks; r++)
		if (in[r] != r * ranks + me)
			wrong("memory: wrong answer");
	free(out);
	free(in);
}

static void run(const char *mode, int sharing)
{
	int me, ranks;
	double own = 0, all;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	greet_all(me, ranks);
	if (me % sharing == 0)
		own = kilobytes("/proc/self/smaps_rollup", "Pss:") + kilobytes("/proc/self/status", "VmPTE:");
	MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("BenchmarkMemory/mode=%s/ranks=%d 1 %.3f MiB/rank\n", mode, ranks, all / 1024 / ranks);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	if (argc != 3 || atoi(argv[2]) < 1) {
		fprintf(stderr, "usage: %s MODE RANKS-PER-ADDRESS-SPACE\n", argv[0]);
		return 2;
	}
#pragma omp parallel
	{
		MPI_Init(&argc, &argv);
		tell_library();
		run(argv[1], atoi(argv[2]));
		MPI_Finalize();
	}
	return 0;
}
