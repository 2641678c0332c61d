/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * Jacobi iterations on a square plate, whose upper edge is held at 1 and whose
 * other edges are held at 0. MPI divides the rows of the plate among processes,
 * and OpenMP divides the rows of a process among its threads. Only the first
 * thread of a process calls MPI: MPI_THREAD_FUNNELED.
 */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 240 };

static int rank, size; /* in MPI_COMM_WORLD */
static int rows; /* of the plate that this process has: rows 1 to `rows` */
static double (*now)[N + 2], (*next)[N + 2]; /* with a halo of one cell on each side */
static double residual; /* the largest change of a cell in the last iteration */

static void set_up(void)
{
	rows = (rank + 1) * N / size - rank * N / size;
	now = calloc(rows + 2, sizeof *now);
	next = calloc(rows + 2, sizeof *next);
	for (int j = 0; rank == 0 && j < N + 2; j++)
		now[0][j] = next[0][j] = 1;
}

/* Fills the halo rows 0 and rows + 1 from the neighbours. */
static void exchange(void)
{
	int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

	MPI_Sendrecv(now[1], N + 2, MPI_DOUBLE, up, 0, now[rows + 1], N + 2, MPI_DOUBLE, down, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(now[rows], N + 2, MPI_DOUBLE, down, 1, now[0], N + 2, MPI_DOUBLE, up, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void iterate(void)
{
	exchange();
	residual = 0;
#pragma omp parallel for reduction(max : residual)
	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= N; j++) {
			next[i][j] = 0.25 * ((now[i - 1][j] + now[i + 1][j]) + (now[i][j - 1] + now[i][j + 1]));
			residual = fmax(residual, fabs(next[i][j] - now[i][j]));
		}

	double (*t)[N + 2] = now;
	now = next;
	next = t;
}

/* The sum of all cells as whole numbers does not depend on the order of its terms. */
static void report(int iterations)
{
	long long heat = 0, all_heat;
	double all_residual;

	for (int i = 1; i <= rows; i++)
		for (int j = 1; j <= N; j++)
			heat += (long long)(now[i][j] * (1 << 30));
	MPI_Reduce(&heat, &all_heat, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&residual, &all_residual, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("jacobi: %d iterations, residual %.6E, heat %lld\n", iterations, all_residual, all_heat);
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 200;
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	set_up();
	for (int i = 0; i < iterations; i++)
		iterate();
	report(iterations);
	MPI_Finalize();
	free(now);
	free(next);
}
