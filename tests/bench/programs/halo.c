/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * halo: two neighbours in a stencil computation exchange a plane of a grid of doubles that lies
 * in memory as [Z][Y][X]. The X-Z plane is Z rows of X doubles, the Y-Z plane Y*Z single ones;
 * each is sent from and received into the grid as a subarray. Side 0 sends its last plane but
 * one and receives its last, side 1 sends its second and receives its first.
 *
 * The ends of a side share its planes out along Z. Threads of one process have one grid, a flat
 * rank only its slab of it. Arguments: see ends.h; the sizes are X, Y and Z. A process is a side,
 * or a part of one. The time is that of the slowest end.
 */

#include "ends.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { X = 2, Y = 1, Z = 0 }; /* row-major order: the last index changes fastest */

struct halo {
	double *grid;
	int slab[3]; /* what this process has of the grid */
	int part[3]; /* what this end has of the plane */
	int from[3], into[3];
	MPI_Datatype out, in;
	double mark; /* changes with every exchange */
};

static double *element(const struct halo *h, const int start[3], int z, int y, int x)
{
	size_t row = (size_t)(start[Z] + z) * h->slab[Y] + start[Y] + y;

	return h->grid + row * h->slab[X] + start[X] + x;
}

static double value(int side, int z, int y, int x)
{
	return side + 2.0 * (x + 20000.0 * (y + 20000.0 * z));
}

/* Writes what this end sends, or compares what it got; the first element is the mark. */
static void walk(const struct halo *h, const int start[3], int side, bool compare)
{
	for (int z = 0; z < h->part[Z]; z++)
		for (int y = 0; y < h->part[Y]; y++)
			for (int x = 0; x < h->part[X]; x++) {
				double *at = element(h, start, z, y, x), should = value(side, z, y, x);

				if (!compare)
					*at = should;
				else if (*at != should && (x > 0 || y > 0 || z > 0))
					wrong("halo: wrong content");
			}
}

static void exchange(const struct end *e, void *what, long first, long count)
{
	struct halo *h = what;
	MPI_Request req[2];

	for (long n = first; n < first + count; n++) {
		*element(h, h->from, 0, 0, 0) = n;
		MPI_Irecv(h->grid, 1, h->in, e->peer, e->tag, e->comm, &req[0]);
		MPI_Isend(h->grid, 1, h->out, e->peer, e->tag, e->comm, &req[1]);
		wait_all(e, 2, req);
		if (*element(h, h->into, 0, 0, 0) != n)
			wrong("halo: wrong mark");
	}
}

static MPI_Datatype subarray(const struct halo *h, const int start[3])
{
	MPI_Datatype type;

	MPI_Type_create_subarray(3, h->slab, h->part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	return type;
}

/* Exchanges the plane that is one element thick in this dimension. */
static void plane(const struct end *e, struct halo *h, int thin, const char *grid)
{
	int last = h->slab[thin] - 1, z = h->part[Z] * (omp_get_thread_num());
	double took;
	long count;

	for (int d = 0; d < 3; d++)
		h->from[d] = h->into[d] = 0;
	h->from[Z] = h->into[Z] = z;
	h->part[X] = thin == X ? 1 : h->slab[X];
	h->part[Y] = thin == Y ? 1 : h->slab[Y];
	h->from[thin] = e->side == 0 ? last - 1 : 1;
	h->into[thin] = e->side == 0 ? last : 0;
	h->out = subarray(h, h->from);
	h->in = subarray(h, h->into);
	walk(h, h->from, e->side, false);
	walk(h, h->into, e->side, false); /* not what comes */
	took = over_ends(e, measure(e, exchange, h, 1, &count), MPI_MAX);
	walk(h, h->into, 1 - e->side, true);
	MPI_Type_free(&h->out);
	MPI_Type_free(&h->in);
	if (e->side == 0 && e->pair == 0)
		printf("BenchmarkHalo/mode=%s/grid=%s/plane=%s/threads=%d %ld %.3f us/exchange\n", e->mode, grid,
		       thin == X ? "yz" : "xz", e->pairs, count, took * 1e6);
}

static void run(const struct end *e)
{
	size_t x = e->sizes[0], y = e->sizes[1], z = e->sizes[2];
	int threads = omp_get_num_threads();
	struct halo h = { .slab = { [X] = x, [Y] = y, [Z] = z * threads / e->pairs }, .part = { [Z] = z / e->pairs } };
	const char *grid = x == y ? "cube" : x > y && x > z ? "x" : y > z ? "y" : "z";

	if (e->nsizes != 3 || z % e->pairs != 0 || threads > e->pairs)
		wrong("halo: needs X, Y and Z, which the ends of a side can share, and a process for each side");
#pragma omp single copyprivate(h)
	h.grid = calloc((size_t)h.slab[Z] * y * x, sizeof(double));
	if (h.grid == NULL)
		wrong("halo: out of memory");
	plane(e, &h, Y, grid);
	plane(e, &h, X, grid);
#pragma omp barrier
#pragma omp single
	free(h.grid);
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
