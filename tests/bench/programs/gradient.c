/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * gradient: the solver of examples/solver, which is the method of conjugate gradients. Each rank has some rows of a square; an iteration
 * exchanges a row with each neighbour and adds up two sums over all ranks. Arguments: see ends.h; a size is the edge of the square. A
 * round is an iteration, and its time that of the slowest rank.
 */

#include "ends.h"

#include "poisson.h"

#include <stdio.h>

enum { ITERATIONS = 50 }; /* of a solution that is timed, after which it begins anew */

static void gradient_rounds(const struct end *e, void *what, long first, long count)
{
	(void)e;
	for (long n = first; n < first + count; n++) {
		if (n % ITERATIONS == 0)
			poisson_begin(what);
		poisson_step(what);
	}
}

/* Finds the solution of which the right side was made. */
static void check_solution(struct poisson *s, int edge)
{
	double first = poisson_begin(s), now = first;

	for (int n = 0; n < 10 * edge && now > first * 1e-24; n++)
		now = poisson_step(s);
	if (!(poisson_error(s) < 1e-6))
		wrong("gradient: a wrong solution");
}

static void run(const struct end *e)
{
	int ranks = 2 * e->pairs;

	for (int size = 0; size < e->nsizes; size++) {
		int edge = (int)e->sizes[size];
		struct poisson *s = e->threaded ? NULL : poisson_new(MPI_COMM_WORLD, edge);
		long count;
		double iteration;

		if (!s)
			wrong("gradient: needs ranks that can share the rows of the square");
		check_solution(s, edge);
		iteration = over_ends(e, measure(e, gradient_rounds, s, ITERATIONS, &count), MPI_MAX);
		if (e->side == 0 && e->pair == 0)
			printf("BenchmarkGradient/mode=%s/ranks=%d/size=%d %ld %.4f us/iteration\n", e->mode, ranks, edge, count, iteration * 1e6);
		poisson_free(s);
	}
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
