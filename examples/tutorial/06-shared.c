/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * As 05-halo.c, but a rank reads the outer rows of a neighbour in the same
 * process where they are. Only neighbours in other processes send messages.
 */

#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 240 };

/* What a rank knows. The other ranks of the process may read it. */
struct strip {
	int rank, size; /* in MPI_COMM_WORLD */
	int rows; /* of the plate that this rank has: rows 1 to `rows` */
	double (*cells[2])[N + 2]; /* of even and of odd iterations, with a halo of one cell on each side */
	double residual; /* the largest change of a cell in the last iteration */
	const struct strip *above, *below; /* neighbours in the same process, or NULL */
};

/* How many ranks this process has. Without tpsl a process is one rank. */
static int ranks_here(void)
{
#ifdef TPSL
	return TPSL_Local_size();
#else
	return 1;
#endif
}

/* The strip of a rank of this process, NULL for a rank of another process. */
static const struct strip *find(const struct strip *all, int rank)
{
	for (int slot = 0; slot < ranks_here(); slot++)
		if (all[slot].rank == rank)
			return &all[slot];
	return NULL;
}

static void set_up(struct strip *s)
{
	s->rows = (s->rank + 1) * N / s->size - s->rank * N / s->size;
	for (int k = 0; k < 2; k++) {
		s->cells[k] = calloc(s->rows + 2, sizeof *s->cells[k]);
		for (int j = 0; s->rank == 0 && j < N + 2; j++)
			s->cells[k][0][j] = 1;
	}
}

/* Exchanges outer rows with the neighbours that are in other processes. */
static void exchange(struct strip *s, double (*now)[N + 2])
{
	int up = s->rank > 0 && s->above == NULL ? s->rank - 1 : MPI_PROC_NULL;
	int down = s->rank < s->size - 1 && s->below == NULL ? s->rank + 1 : MPI_PROC_NULL;
	MPI_Request request[4];

	MPI_Irecv(now[0], N + 2, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Irecv(now[s->rows + 1], N + 2, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &request[1]);
	MPI_Isend(now[1], N + 2, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &request[2]);
	MPI_Isend(now[s->rows], N + 2, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &request[3]);
	MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static void iterate(struct strip *s, int iteration)
{
	int k = iteration % 2;
	double (*now)[N + 2] = s->cells[k], (*next)[N + 2] = s->cells[1 - k], residual = 0;

	exchange(s, now);
	for (int i = 1; i <= s->rows; i++) {
		const double *up = i == 1 && s->above ? s->above->cells[k][s->above->rows] : now[i - 1];
		const double *down = i == s->rows && s->below ? s->below->cells[k][1] : now[i + 1];

		for (int j = 1; j <= N; j++) {
			next[i][j] = 0.25 * ((up[j] + down[j]) + (now[i][j - 1] + now[i][j + 1]));
			residual = fmax(residual, fabs(next[i][j] - now[i][j]));
		}
	}
	s->residual = residual;
	/* The next iteration reads what the other ranks of the process wrote in this one. */
#pragma omp barrier
}

/* The sum of all cells as whole numbers does not depend on the order of its terms. */
static void report(const struct strip *s, int iterations)
{
	long long heat = 0, all_heat;
	double all_residual;

	for (int i = 1; i <= s->rows; i++)
		for (int j = 1; j <= N; j++)
			heat += (long long)(s->cells[iterations % 2][i][j] * (1 << 30));
	MPI_Reduce(&heat, &all_heat, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&s->residual, &all_residual, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (s->rank == 0)
		printf("jacobi: %d iterations, residual %.6E, heat %lld\n", iterations, all_residual, all_heat);
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 200;
	struct strip *strips = calloc(ranks_here(), sizeof *strips); /* by slot */

#pragma omp parallel num_threads(ranks_here())
	{
		struct strip *s = &strips[omp_get_thread_num()];

		MPI_Init(&argc, &argv);
		MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
		MPI_Comm_size(MPI_COMM_WORLD, &s->size);
		set_up(s);
#pragma omp barrier
		s->above = find(strips, s->rank - 1);
		s->below = find(strips, s->rank + 1);
		for (int i = 0; i < iterations; i++)
			iterate(s, i);
		report(s, iterations);
		MPI_Finalize();
		free(s->cells[0]);
		free(s->cells[1]);
	}
	free(strips);
}
