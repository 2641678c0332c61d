/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * fourier: the Fourier transform of a cube of complex numbers and back, as in the benchmark FT of NAS. Each rank has some planes of
 * the cube; the third dimension comes to it by MPI_Alltoall (op alltoall), or by parts with MPI_Ialltoall while it transforms the next
 * part (op ialltoall). Arguments: see ends.h; a size is the edge of the cube, a power of 2. The time of a round is that of the
 * slowest rank, and the time in MPI is the mean of all ranks.
 */

#include "ends.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

enum { MOST_EDGE = 256, PARTS = 4 };

struct cube {
	int me, ranks;
	int n, planes;                /* edge; planes of a rank */
	int parts;                    /* of the planes, each given to the others by itself; 1: by MPI_Alltoall */
	number *data, *turned;        /* [plane][n][n]; the first and third index are exchanged between the two */
	number *out, *in;             /* blocks of all parts */
	number roots[MOST_EDGE / 2];  /* of unity */
	MPI_Request requests[PARTS];
	double in_mpi;                /* seconds of the last batch */
};

static void reverse_bits(number *line, int n)
{
	for (int i = 1, j = 0; i < n; i++) {
		int bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			number x = line[i];
			line[i] = line[j];
			line[j] = x;
		}
	}
}

static void transform(const struct cube *c, number *line, bool back)
{
	reverse_bits(line, c->n);
	for (int half = 1; half < c->n; half *= 2)
		for (int at = 0; at < c->n; at += 2 * half)
			for (int k = 0; k < half; k++) {
				number root = c->roots[k * (c->n / (2 * half))];
				number even = line[at + k], odd = line[at + k + half] * (back ? conj(root) : root);
				line[at + k] = even + odd;
				line[at + k + half] = even - odd;
			}
}

static void transform_rows(const struct cube *c, number *plane, bool back)
{
	for (int j = 0; j < c->n; j++)
		transform(c, plane + (size_t)j * c->n, back);
}

static void transform_columns(const struct cube *c, number *plane, bool back)
{
	number line[MOST_EDGE];

	for (int k = 0; k < c->n; k++) {
		for (int j = 0; j < c->n; j++)
			line[j] = plane[(size_t)j * c->n + k];
		transform(c, line, back);
		for (int j = 0; j < c->n; j++)
			plane[(size_t)j * c->n + k] = line[j];
	}
}

/* Numbers in a block: what a rank gives to each one of a part. */
static size_t block(const struct cube *c)
{
	return (size_t)c->planes / c->parts * c->n * c->planes;
}

static number *plane_of(const struct cube *c, number *data, int plane)
{
	return data + (size_t)plane * c->n * c->n;
}

/* Begins to give a part of the planes to the others. */
static void give(struct cube *c, number *from, int part)
{
	int planes = c->planes / c->parts, count = (int)(2 * block(c));
	number *out = c->out + part * block(c) * c->ranks, *in = c->in + part * block(c) * c->ranks, *at = out;
	double begin;

	for (int r = 0; r < c->ranks; r++)
		for (int i = part * planes; i < (part + 1) * planes; i++)
			for (int j = 0; j < c->n; j++, at += c->planes)
				memcpy(at, plane_of(c, from, i) + (size_t)j * c->n + r * c->planes, (size_t)c->planes * sizeof *at);
	begin = now();
	if (c->parts == 1)
		MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD);
	else
		MPI_Ialltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD, &c->requests[part]);
	c->in_mpi += now() - begin;
}

/* Waits for a part of what the others give, and puts it in its place. */
static void take(struct cube *c, number *to, int part)
{
	int planes = c->planes / c->parts;
	const number *at = c->in + part * block(c) * c->ranks;
	double begin = now();

	if (c->parts > 1)
		MPI_Wait(&c->requests[part], MPI_STATUS_IGNORE);
	c->in_mpi += now() - begin;
	for (int r = 0; r < c->ranks; r++)
		for (int i = part * planes; i < (part + 1) * planes; i++)
			for (int j = 0; j < c->n; j++)
				for (int k = 0; k < c->planes; k++)
					plane_of(c, to, k)[(size_t)j * c->n + r * c->planes + i] = *at++;
}

typedef void on_plane(const struct cube *c, number *plane, bool back);

static void rows_and_columns(const struct cube *c, number *plane, bool back)
{
	transform_rows(c, plane, back);
	transform_columns(c, plane, back);
}

/* Transforms each plane before it is given to the others, and each one that came of it. */
static void turn(struct cube *c, number *from, number *to, bool back, on_plane *before, on_plane *after)
{
	int planes = c->planes / c->parts;

	for (int part = 0; part < c->parts; part++) {
		for (int i = part * planes; i < (part + 1) * planes; i++)
			before(c, plane_of(c, from, i), back);
		give(c, from, part);
	}
	for (int part = 0; part < c->parts; part++)
		take(c, to, part);
	for (int i = 0; i < c->planes; i++)
		after(c, plane_of(c, to, i), back);
}

static void there(struct cube *c)
{
	turn(c, c->data, c->turned, false, rows_and_columns, transform_rows);
}

static void and_back(struct cube *c)
{
	double all = (double)c->n * c->n * c->n;

	turn(c, c->turned, c->data, true, transform_rows, rows_and_columns);
	for (size_t i = 0; i < (size_t)c->planes * c->n * c->n; i++)
		c->data[i] /= all;
}

static void fourier_rounds(const struct end *e, void *what, long first, long count)
{
	struct cube *c = what;

	(void)e;
	(void)first;
	c->in_mpi = 0;
	for (long n = 0; n < count; n++) {
		there(c);
		and_back(c);
	}
	c->in_mpi /= count;
}

static number given(const struct cube *c, int x, int y, int z)
{
	uint64_t at = (((uint64_t)z * c->n + y) * c->n + x + 1) * 0x9e3779b97f4a7c15u;

	return (double)(at >> 40) / (1 << 24) + I * ((double)(at << 24 >> 40) / (1 << 24));
}

static void fill_cube(struct cube *c)
{
	for (int i = 0; i < c->planes; i++)
		for (int y = 0; y < c->n; y++)
			for (int x = 0; x < c->n; x++)
				plane_of(c, c->data, i)[(size_t)y * c->n + x] = given(c, x, y, c->me * c->planes + i);
}

/* One coefficient, that of frequencies 1, 2 and 3, is compared with its definition. */
static void check_coefficient(struct cube *c)
{
	double step = -2 * acos(-1) / c->n, mine[2], all[2];
	number sum = 0;

	for (int i = 0; i < c->planes; i++)
		for (int y = 0; y < c->n; y++)
			for (int x = 0; x < c->n; x++)
				sum += plane_of(c, c->data, i)[(size_t)y * c->n + x] * cexp(I * step * (x + 2 * y + 3 * (c->me * c->planes + i)));
	mine[0] = creal(sum);
	mine[1] = cimag(sum);
	MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	there(c);
	if (c->me == 1 / c->planes && cabs(plane_of(c, c->turned, 1 % c->planes)[2 * c->n + 3] - (all[0] + I * all[1])) > 1e-6)
		wrong("fourier: a wrong coefficient");
	and_back(c);
}

/* There and back is where it began. */
static void check_cube(struct cube *c)
{
	for (int i = 0; i < c->planes; i++)
		for (int y = 0; y < c->n; y++)
			for (int x = 0; x < c->n; x++)
				if (!(cabs(plane_of(c, c->data, i)[(size_t)y * c->n + x] - given(c, x, y, c->me * c->planes + i)) < 1e-9))
					wrong("fourier: the cube has changed");
}

static void time_rounds(const struct end *e, struct cube *c, const char *op, int parts)
{
	long count;
	double round, in_mpi;

	c->parts = parts;
	fill_cube(c);
	check_coefficient(c);
	round = over_ends(e, measure(e, fourier_rounds, c, 1, &count), MPI_MAX);
	in_mpi = over_ends(e, c->in_mpi, MPI_SUM) / c->ranks;
	check_cube(c);
	if (c->me == 0) {
		printf("BenchmarkFourier/mode=%s/op=%s/ranks=%d/size=%d %ld %.4f us/round\n", e->mode, op, c->ranks, c->n, count, round * 1e6);
		printf("BenchmarkFourier/mode=%s/op=%s-mpi/ranks=%d/size=%d %ld %.4f us/round\n", e->mode, op, c->ranks, c->n, count, in_mpi * 1e6);
	}
}

static void run(const struct end *e)
{
	struct cube c = { .me = e->side * e->pairs + e->pair, .ranks = 2 * e->pairs };

	if (e->threaded || e->crowded)
		wrong("fourier: needs ranks with a CPU each");
	for (int s = 0; s < e->nsizes; s++) {
		c.n = (int)e->sizes[s];
		c.planes = c.n / c.ranks;
		if (c.n > MOST_EDGE || (c.n & (c.n - 1)) || c.planes % PARTS || c.planes * c.ranks != c.n)
			wrong("fourier: needs an edge that is a power of 2, and some planes for each rank");
		size_t bytes = (size_t)c.planes * c.n * c.n * sizeof(number);
		c.data = allocate(bytes);
		c.turned = allocate(bytes);
		c.out = allocate(bytes);
		c.in = allocate(bytes);
		for (int k = 0; k < c.n / 2; k++)
			c.roots[k] = cexp(-2 * I * acos(-1) * k / c.n);
		time_rounds(e, &c, "alltoall", 1);
		time_rounds(e, &c, "ialltoall", PARTS);
		free(c.data);
		free(c.turned);
		free(c.out);
		free(c.in);
	}
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
