/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * As 04-slots.c, but halo rows travel while the inner rows are computed. A row
 * goes straight from the strip of one thread into the strip of the other.
 */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 240 };

/* What a rank knows. */
struct strip {
	int rank, size; /* in MPI_COMM_WORLD */
	int rows; /* of the plate that this rank has: rows 1 to `rows` */
	double (*now)[N + 2], (*next)[N + 2]; /* with a halo of one cell on each side */
	double residual; /* the largest change of a cell in the last iteration */
};

static void set_up(struct strip *s)
{
	s->rows = (s->rank + 1) * N / s->size - s->rank * N / s->size;
	s->now = calloc(s->rows + 2, sizeof *s->now);
	s->next = calloc(s->rows + 2, sizeof *s->next);
	for (int j = 0; s->rank == 0 && j < N + 2; j++)
		s->now[0][j] = s->next[0][j] = 1;
}

/* Starts to send the outer rows and to receive the halo rows. */
static void start_exchange(struct strip *s, MPI_Request request[4])
{
	int up = s->rank > 0 ? s->rank - 1 : MPI_PROC_NULL;
	int down = s->rank < s->size - 1 ? s->rank + 1 : MPI_PROC_NULL;

	MPI_Irecv(s->now[0], N + 2, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Irecv(s->now[s->rows + 1], N + 2, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &request[1]);
	MPI_Isend(s->now[1], N + 2, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &request[2]);
	MPI_Isend(s->now[s->rows], N + 2, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &request[3]);
}

/* Computes the rows `from` to `to`. */
static void sweep(struct strip *s, int from, int to)
{
	double (*now)[N + 2] = s->now, (*next)[N + 2] = s->next;

	for (int i = from; i <= to; i++)
		for (int j = 1; j <= N; j++) {
			next[i][j] = 0.25 * ((now[i - 1][j] + now[i + 1][j]) + (now[i][j - 1] + now[i][j + 1]));
			s->residual = fmax(s->residual, fabs(next[i][j] - now[i][j]));
		}
}

static void iterate(struct strip *s)
{
	MPI_Request request[4];

	s->residual = 0;
	start_exchange(s, request);
	sweep(s, 2, s->rows - 1);
	MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
	sweep(s, 1, 1);
	if (s->rows > 1)
		sweep(s, s->rows, s->rows);

	double (*t)[N + 2] = s->now;
	s->now = s->next;
	s->next = t;
}

/* The sum of all cells as whole numbers does not depend on the order of its terms. */
static void report(const struct strip *s, int iterations)
{
	long long heat = 0, all_heat;
	double all_residual;

	for (int i = 1; i <= s->rows; i++)
		for (int j = 1; j <= N; j++)
			heat += (long long)(s->now[i][j] * (1 << 30));
	MPI_Reduce(&heat, &all_heat, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&s->residual, &all_residual, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (s->rank == 0)
		printf("jacobi: %d iterations, residual %.6E, heat %lld\n", iterations, all_residual, all_heat);
}

/* How many ranks this process has. Without tpsl a process is one rank. */
static int ranks_here(void)
{
#ifdef TPSL
	return TPSL_Local_size();
#else
	return 1;
#endif
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 200;

#pragma omp parallel num_threads(ranks_here())
	{
		struct strip s;

		MPI_Init(&argc, &argv); /* claims the slot with the number of this thread */
		MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
		MPI_Comm_size(MPI_COMM_WORLD, &s.size);
		set_up(&s);
		for (int i = 0; i < iterations; i++)
			iterate(&s);
		report(&s, iterations);
		MPI_Finalize();
		free(s.now);
		free(s.next);
	}
}
