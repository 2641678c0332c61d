/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * gradient: the method of conjugate gradients for Poisson's equation on a square, five points, with the value 0 around it. Each rank
 * has some rows of the square. An iteration exchanges a row with each neighbour and adds up two sums over all ranks. Arguments: see
 * ends.h; a size is the edge of the square. A round is an iteration, and its time that of the slowest rank.
 */

#include "ends.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 50 }; /* of a solution that is timed, after which it begins anew */

struct system {
	int me, ranks, n, rows;
	double *x, *r, *p, *q; /* rows + 2 rows of n each: one more at each end, of the neighbours */
	double *given;         /* the right side */
	double rr;             /* the square of the residual's length */
};

static double *row(const struct system *s, double *v, int i)
{
	return v + (size_t)(i + 1) * s->n;
}

static double sum_over_ranks(double mine)
{
	double all;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

static double dot(const struct system *s, const double *a, const double *b)
{
	double sum = 0;

	for (size_t i = s->n, end = (size_t)(s->rows + 1) * s->n; i < end; i++)
		sum += a[i] * b[i];
	return sum_over_ranks(sum);
}

static void exchange_rows(const struct system *s, double *v)
{
	int above = s->me > 0 ? s->me - 1 : MPI_PROC_NULL, below = s->me + 1 < s->ranks ? s->me + 1 : MPI_PROC_NULL;
	MPI_Request req[4];

	MPI_Irecv(row(s, v, -1), s->n, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &req[0]);
	MPI_Irecv(row(s, v, s->rows), s->n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &req[1]);
	MPI_Isend(row(s, v, 0), s->n, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &req[2]);
	MPI_Isend(row(s, v, s->rows - 1), s->n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &req[3]);
	MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
}

/* to = A v */
static void multiply(const struct system *s, double *v, double *to)
{
	exchange_rows(s, v);
	for (int i = 0; i < s->rows; i++) {
		const double *here = row(s, v, i), *above = row(s, v, i - 1), *below = row(s, v, i + 1);
		double *out = row(s, to, i);

		for (int j = 0; j < s->n; j++)
			out[j] = 4 * here[j] - above[j] - below[j] - (j > 0 ? here[j - 1] : 0) - (j < s->n - 1 ? here[j + 1] : 0);
	}
}

static void begin_solution(struct system *s)
{
	size_t all = (size_t)(s->rows + 2) * s->n * sizeof(double);

	memset(s->x, 0, all);
	memcpy(s->r, s->given, all);
	memcpy(s->p, s->given, all);
	s->rr = dot(s, s->r, s->r);
}

static void iterate(struct system *s)
{
	double step, old = s->rr;

	multiply(s, s->p, s->q);
	step = s->rr / dot(s, s->p, s->q);
	for (size_t i = s->n, end = (size_t)(s->rows + 1) * s->n; i < end; i++) {
		s->x[i] += step * s->p[i];
		s->r[i] -= step * s->q[i];
	}
	s->rr = dot(s, s->r, s->r);
	for (size_t i = s->n, end = (size_t)(s->rows + 1) * s->n; i < end; i++)
		s->p[i] = s->r[i] + s->rr / old * s->p[i];
}

static void gradient_rounds(const struct end *e, void *what, long first, long count)
{
	(void)e;
	for (long n = first; n < first + count; n++) {
		if (n % ITERATIONS == 0)
			begin_solution(what);
		iterate(what);
	}
}

static double wanted(const struct system *s, int i, int j)
{
	return sin(0.1 * (s->me * s->rows + i + 1)) + cos(0.3 * (j + 1));
}

/* Finds the solution of which the right side was made. */
static void check_solution(struct system *s)
{
	double first;

	begin_solution(s);
	first = s->rr;
	for (int n = 0; n < 10 * s->n && s->rr > first * 1e-24; n++)
		iterate(s);
	for (int i = 0; i < s->rows; i++)
		for (int j = 0; j < s->n; j++)
			if (!(fabs(row(s, s->x, i)[j] - wanted(s, i, j)) < 1e-6))
				wrong("gradient: a wrong solution");
}

static void run(const struct end *e)
{
	struct system s = { .me = e->side * e->pairs + e->pair, .ranks = 2 * e->pairs };

	for (int size = 0; size < e->nsizes; size++) {
		long count;
		double iteration;

		s.n = (int)e->sizes[size];
		s.rows = s.n / s.ranks;
		if (e->threaded || s.rows < 1 || s.rows * s.ranks != s.n)
			wrong("gradient: needs ranks that can share the rows of the square");
		double **vectors[] = { &s.x, &s.r, &s.p, &s.q, &s.given };
		for (int v = 0; v < 5; v++)
			*vectors[v] = allocate((size_t)(s.rows + 2) * s.n * sizeof(double));
		for (int i = 0; i < s.rows; i++)
			for (int j = 0; j < s.n; j++)
				row(&s, s.x, i)[j] = wanted(&s, i, j);
		multiply(&s, s.x, s.given);
		check_solution(&s);
		iteration = over_ends(e, measure(e, gradient_rounds, &s, ITERATIONS, &count), MPI_MAX);
		if (s.me == 0)
			printf("BenchmarkGradient/mode=%s/ranks=%d/size=%d %ld %.4f us/iteration\n", e->mode, s.ranks, s.n, count, iteration * 1e6);
		for (int v = 0; v < 5; v++)
			free(*vectors[v]);
	}
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
