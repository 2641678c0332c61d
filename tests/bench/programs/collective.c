/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * collective: barrier, broadcast, sum and all-to-all of all ranks. Arguments: see ends.h. A size
 * is what a rank gives to each other one, or to the sum. Each answer is compared; the time is
 * that of the slowest rank.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>

struct call {
	const char *op;
	int me, ranks, words;
	int64_t *out, *in;
};

static void expect(const struct call *c, int at, int64_t value)
{
	if (c->in[at] != value)
		wrong(c->op);
}

static void barrier(const struct end *e, void *what, long first, long count)
{
	(void)e;
	(void)what;
	(void)first;
	for (long n = 0; n < count; n++)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* The roots take turns. */
static void bcast(const struct end *e, void *what, long first, long count)
{
	struct call *c = what;

	(void)e;
	for (long n = first; n < first + count; n++) {
		int root = n % c->ranks;

		c->in[0] = c->in[c->words - 1] = c->me == root ? n : -1;
		MPI_Bcast(c->in, c->words, MPI_INT64_T, root, MPI_COMM_WORLD);
		expect(c, 0, n);
		expect(c, c->words - 1, n);
	}
}

static void allreduce(const struct end *e, void *what, long first, long count)
{
	struct call *c = what;

	(void)e;
	for (long n = first; n < first + count; n++) {
		c->out[0] = c->out[c->words - 1] = n + c->me;
		MPI_Allreduce(c->out, c->in, c->words, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		expect(c, 0, n * c->ranks + c->ranks * (c->ranks - 1) / 2);
		expect(c, c->words - 1, n * c->ranks + c->ranks * (c->ranks - 1) / 2);
	}
}

static void alltoall(const struct end *e, void *what, long first, long count)
{
	struct call *c = what;

	(void)e;
	for (long n = first; n < first + count; n++) {
		for (int r = 0; r < c->ranks; r++)
			c->out[r * c->words] = c->out[(r + 1) * c->words - 1] = n * c->ranks + c->me;
		MPI_Alltoall(c->out, c->words, MPI_INT64_T, c->in, c->words, MPI_INT64_T, MPI_COMM_WORLD);
		for (int r = 0; r < c->ranks; r++) {
			expect(c, r * c->words, n * c->ranks + r);
			expect(c, (r + 1) * c->words - 1, n * c->ranks + r);
		}
	}
}

static void time_calls(const struct end *e, struct call *c, const char *op, rounds *f)
{
	double took;
	long count;

	c->op = op;
	took = over_ends(e, measure(e, f, c, 5, &count), MPI_MAX);
	if (c->me == 0)
		printf("BenchmarkCollective/mode=%s/op=%s/ranks=%d/size=%zu %ld %.4f us/call\n", e->mode, op, c->ranks,
		       f == barrier ? 0 : c->words * sizeof(int64_t), count, took * 1e6);
}

static void run(const struct end *e)
{
	struct call c = { .me = e->side * e->pairs + e->pair, .ranks = 2 * e->pairs };

	if (e->threaded || e->crowded)
		wrong("collective: needs ranks with a CPU each");
	time_calls(e, &c, "barrier", barrier);
	for (int s = 0; s < e->nsizes; s++) {
		c.words = e->sizes[s] / sizeof(int64_t);
		c.out = allocate(e->sizes[s] * c.ranks);
		c.in = allocate(e->sizes[s] * c.ranks);
		time_calls(e, &c, "bcast", bcast);
		time_calls(e, &c, "allreduce", allreduce);
		time_calls(e, &c, "alltoall", alltoall);
		free(c.out);
		free(c.in);
	}
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
