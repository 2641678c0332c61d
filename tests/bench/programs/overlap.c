/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * overlap: how much of a transfer hides behind computation. The ends of a pair start a message
 * to each other, compute without calling MPI for about as long as the transfer takes alone, and
 * wait. 100 % means that no time was added to the computation, 0 % that all of the transfer was.
 * Arguments: see ends.h.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
	char *out, *in;
	size_t size;
	bool transfers;
	long steps; /* of computation, each round */
};

static void compute(long steps)
{
	volatile double x = 1;

	for (long s = 0; s < steps; s++)
		x = x * 0.999999 + 1e-6;
}

static void work(const struct end *e, void *what, long first, long count)
{
	struct work *w = what;
	MPI_Request req[2];

	for (long n = first; n < first + count; n++) {
		if (w->transfers) {
			stamp(w->out, w->size, n);
			MPI_Irecv(w->in, w->size, MPI_BYTE, e->peer, e->tag, e->comm, &req[0]);
			MPI_Isend(w->out, w->size, MPI_BYTE, e->peer, e->tag, e->comm, &req[1]);
		}
		compute(w->steps);
		if (w->transfers) {
			wait_all(e, 2, req);
			check_stamp(w->in, w->size, n);
		}
	}
}

static double round_of(const struct end *e, struct work *w, bool transfers, long steps, long *count)
{
	w->transfers = transfers;
	w->steps = steps;
	return over_ends(e, measure(e, work, w, 1, count), MPI_SUM) / (2 * e->pairs);
}

static void run(const struct end *e)
{
	struct work w = { .out = allocate(LARGEST), .in = allocate(LARGEST) };
	long some = 100000, count;
	double step = round_of(e, &w, false, some, &count) / some;

	for (int s = 0; s < e->nsizes; s++) {
		double alone, computing, both;
		long steps;

		w.size = e->sizes[s];
		fill(w.out, w.size);
		memset(w.in, 0, w.size);
		alone = round_of(e, &w, true, 0, &count);
		steps = alone / step;
		computing = round_of(e, &w, false, steps, &count);
		both = round_of(e, &w, true, steps, &count);
		check_filled(w.in, w.size);
		if (e->side == 0 && e->pair == 0)
			printf("BenchmarkOverlap/mode=%s/size=%zu %ld %.2f percent\n", e->mode, w.size, count,
			       100 * (1 - (both - computing) / alone));
	}
	free(w.out);
	free(w.in);
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
