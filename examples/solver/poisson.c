/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

#include "poisson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 5 };

struct poisson {
	MPI_Comm comm;
	int n, first, rows; /* the edge; the rank's first row, and how many it has */
	int above, below;   /* ranks, or MPI_PROC_NULL */
	/* rows + 2 rows of n each: one more at each end, of the neighbours */
	double *x, *r, *p, *q, *given; /* solution, residual, direction, its product with the matrix, right side */
	double rr;                     /* the square of the residual's length */
};

static double *row(const struct poisson *s, double *v, int i)
{
	return v + (size_t)(i + 1) * (size_t)s->n;
}

static double reduce(const struct poisson *s, double mine, MPI_Op op)
{
	double all;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, s->comm);
	return all;
}

static double dot(const struct poisson *s, double *a, double *b)
{
	double sum = 0;

	for (const double *i = row(s, a, 0), *j = row(s, b, 0), *end = row(s, a, s->rows); i < end; i++, j++)
		sum += *i * *j;
	return reduce(s, sum, MPI_SUM);
}

static void exchange_rows(const struct poisson *s, double *v)
{
	MPI_Request req[4];
	MPI_Status status[4];

	MPI_Irecv(row(s, v, -1), s->n, MPI_DOUBLE, s->above, 0, s->comm, &req[0]);
	MPI_Irecv(row(s, v, s->rows), s->n, MPI_DOUBLE, s->below, 0, s->comm, &req[1]);
	MPI_Isend(row(s, v, 0), s->n, MPI_DOUBLE, s->above, 0, s->comm, &req[2]);
	MPI_Isend(row(s, v, s->rows - 1), s->n, MPI_DOUBLE, s->below, 0, s->comm, &req[3]);
	MPI_Waitall(4, req, status);
}

/* to = A v */
static void multiply(const struct poisson *s, double *v, double *to)
{
	exchange_rows(s, v);
	for (int i = 0; i < s->rows; i++) {
		const double *here = row(s, v, i), *above = row(s, v, i - 1), *below = row(s, v, i + 1);
		double *out = row(s, to, i);

		for (int j = 0; j < s->n; j++)
			out[j] = 4 * here[j] - above[j] - below[j] - (j > 0 ? here[j - 1] : 0) - (j < s->n - 1 ? here[j + 1] : 0);
	}
}

static double solution(const struct poisson *s, int i, int j)
{
	return sin(0.1 * (s->first + i + 1)) + cos(0.3 * (j + 1));
}

/* The rank's rows, with memory for them. NULL: no rows, or no memory. */
static struct poisson *allocate(MPI_Comm comm, int edge)
{
	struct poisson *s = calloc(1, sizeof *s);
	int me, ranks, made = s != NULL;

	if (!s)
		return NULL;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &ranks);
	s->comm = comm;
	s->n = edge;
	s->first = (int)((long)edge * me / ranks);
	s->rows = (int)((long)edge * (me + 1) / ranks) - s->first;
	s->above = me > 0 ? me - 1 : MPI_PROC_NULL;
	s->below = me + 1 < ranks ? me + 1 : MPI_PROC_NULL;
	double **vectors[VECTORS] = { &s->x, &s->r, &s->p, &s->q, &s->given };
	for (int v = 0; v < VECTORS && made; v++)
		made = s->rows > 0 && (*vectors[v] = calloc((size_t)(s->rows + 2) * (size_t)s->n, sizeof(double)));
	if (!made)
		poisson_free(s);
	return made ? s : NULL;
}

struct poisson *poisson_new(MPI_Comm comm, int edge)
{
	struct poisson *s = allocate(comm, edge);
	int made = s != NULL, all;

	MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, comm);
	if (!all) {
		poisson_free(s);
		return NULL;
	}
	for (int i = 0; i < s->rows; i++)
		for (int j = 0; j < s->n; j++)
			row(s, s->x, i)[j] = solution(s, i, j);
	multiply(s, s->x, s->given);
	return s;
}

void poisson_free(struct poisson *s)
{
	if (!s)
		return;
	double *vectors[VECTORS] = { s->x, s->r, s->p, s->q, s->given };
	for (int v = 0; v < VECTORS; v++)
		free(vectors[v]);
	free(s);
}

double poisson_begin(struct poisson *s)
{
	size_t all = (size_t)(s->rows + 2) * (size_t)s->n * sizeof(double);

	memset(s->x, 0, all);
	memcpy(s->r, s->given, all);
	memcpy(s->p, s->given, all);
	return s->rr = dot(s, s->r, s->r);
}

double poisson_step(struct poisson *s)
{
	double step, old = s->rr;
	size_t first = (size_t)s->n, end = (size_t)(s->rows + 1) * (size_t)s->n;

	multiply(s, s->p, s->q);
	step = s->rr / dot(s, s->p, s->q);
	for (size_t i = first; i < end; i++) {
		s->x[i] += step * s->p[i];
		s->r[i] -= step * s->q[i];
	}
	s->rr = dot(s, s->r, s->r);
	for (size_t i = first; i < end; i++)
		s->p[i] = s->r[i] + s->rr / old * s->p[i];
	return s->rr;
}

double poisson_error(const struct poisson *s)
{
	double most = 0;

	for (int i = 0; i < s->rows; i++)
		for (int j = 0; j < s->n; j++)
			most = fmax(most, fabs(row(s, s->x, i)[j] - solution(s, i, j)));
	return reduce(s, most, MPI_MAX);
}

struct poisson_report poisson_solve(MPI_Comm comm, int edge)
{
	struct poisson_report report = { .error = NAN };
	struct poisson *s = poisson_new(comm, edge);

	if (s) {
		double began, first = poisson_begin(s), now = first;

		began = MPI_Wtime();
		for (; now > first * 1e-24 && report.iterations < 20 * edge; report.iterations++)
			now = poisson_step(s);
		report.seconds = reduce(s, MPI_Wtime() - began, MPI_MAX);
		report.error = poisson_error(s);
	}
	poisson_free(s);
	return report;
}
