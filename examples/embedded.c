/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * embedded: an application with a main of its own that is no MPI program. It reads
 * lines "N RANKS" from its input. For each it solves the same system of equations
 * with N unknowns, by the conjugate gradient method on that many MPI ranks, and prints
 * how many iterations that took and how large the error is. Nothing of MPI stays
 * between two lines.
 *
 * The system is that of the second derivative on a line, -x[i-1] + 2 x[i] - x[i+1] =
 * b[i]. Its solution is known, so that the error is.
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* What the application wants, and what it gets. The ranks share it. */
struct problem {
	int n; /* unknowns */
	int iterations;
	double error; /* the largest of all unknowns */
};

/* A rank's part of a vector, with one neighbour's element at each end. */
struct part {
	int first, size;
	int before, after; /* ranks, or MPI_PROC_NULL */
};

static double *vector(const struct part *p)
{
	double *v = calloc((size_t)p->size + 2, sizeof *v);
	if (!v)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return v + 1; /* so that v[-1] is the neighbour's */
}

static void release(double *v)
{
	free(v - 1);
}

static double product(const struct part *p, const double *a, const double *b)
{
	double sum = 0;
	for (int i = 0; i < p->size; i++)
		sum += a[i] * b[i];
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

static void apply(const struct part *p, double *v, double *to)
{
	MPI_Sendrecv(&v[0], 1, MPI_DOUBLE, p->before, 0, &v[p->size], 1, MPI_DOUBLE, p->after, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&v[p->size - 1], 1, MPI_DOUBLE, p->after, 0, &v[-1], 1, MPI_DOUBLE, p->before, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < p->size; i++)
		to[i] = 2 * v[i] - v[i - 1] - v[i + 1];
}

/* The solution, which is 0 beyond both ends. */
static double solution(const struct problem *q, int i)
{
	return i < 0 || i >= q->n ? 0 : i * 7 % 11 - 5;
}

/* Runs on each rank. */
static int solve(void *argument)
{
	struct problem *q = argument;
	int rank, ranks;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	struct part p = { .first = (int)((long)q->n * rank / ranks) };
	p.size = (int)((long)q->n * (rank + 1) / ranks) - p.first;
	p.before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	p.after = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

	double *x = vector(&p), *r = vector(&p), *d = vector(&p), *a = vector(&p);
	for (int i = 0; i < p.size; i++) {
		int at = p.first + i;
		d[i] = r[i] = 2 * solution(q, at) - solution(q, at - 1) - solution(q, at + 1);
	}
	double rest = product(&p, r, r), enough = rest * 1e-24;
	int iterations = 0;
	for (; rest > enough && iterations < 2 * q->n; iterations++) {
		apply(&p, d, a);
		double alpha = rest / product(&p, d, a), before = rest;
		for (int i = 0; i < p.size; i++) {
			x[i] += alpha * d[i];
			r[i] -= alpha * a[i];
		}
		rest = product(&p, r, r);
		for (int i = 0; i < p.size; i++)
			d[i] = r[i] + rest / before * d[i];
	}

	double error = 0;
	for (int i = 0; i < p.size; i++) {
		double off = x[i] - solution(q, p.first + i);
		error = off > error ? off : -off > error ? -off : error;
	}
	MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	if (rank == 0) {
		q->iterations = iterations;
		q->error = error;
	}
	release(x);
	release(r);
	release(d);
	release(a);
	return error > 1e-6;
}

int main(void)
{
	char line[100];
	int ranks;
	struct problem q = { 0 };

	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%d %d", &q.n, &ranks) != 2 || ranks < 1 || q.n < ranks) {
			fprintf(stderr, "embedded: want lines of two numbers, N RANKS, with N >= RANKS >= 1\n");
			return 1;
		}
		int wrong = TPSL_Run(ranks, solve, &q, NULL);
		printf("%d unknowns on %d rank%s: %d iterations, %s\n", q.n, ranks, ranks == 1 ? "" : "s",
		       q.iterations, wrong ? "wrong" : "right");
	}
	return 0;
}
