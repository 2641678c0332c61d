/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * scalapack: ScaLAPACK in thread ranks. All ranks solve A x = b together, on a grid of
 * ranks, with A spread over it in blocks; b is chosen such that x is 1, 2, ..., N. BLACS,
 * below ScaLAPACK, keeps the rank's number in a variable; tpsl gives each rank a copy.
 */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Fortran and C interfaces of ScaLAPACK, which has no header. */
void Cblacs_pinfo(int *rank, int *size);
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *me, const int *first, const int *among);
void descinit_(int *descriptor, const int *m, const int *n, const int *mb, const int *nb, const int *row, const int *column, const int *context,
               const int *leading, int *info);
void pdgesv_(const int *n, const int *columns, double *a, const int *ia, const int *ja, const int *da, int *pivots, double *b, const int *ib,
             const int *jb, const int *db, int *info);

enum { N = 96, BLOCK = 8 };

struct grid {
    int context, rows, columns, row, column;
};

static double element(int i, int j)
{
    return i == j ? N : 1.0 / (1 + i + 2 * j);
}

/* Number in the whole of a local row or column, for BLOCK rows or columns in turn. */
static int global(int local, int me, int among)
{
    return (local / BLOCK * among + me) * BLOCK + local % BLOCK;
}

static double right_side(int i)
{
    double sum = 0;
    for (int j = 0; j < N; j++)
        sum += element(i, j) * (j + 1);
    return sum;
}

/* Solves and returns the largest error of this rank's part of x. */
static double solve(const struct grid *g)
{
    const int n = N, block = BLOCK, zero = 0, one = 1;
    int rows = numroc_(&n, &block, &g->row, &zero, &g->rows);
    int columns = numroc_(&n, &block, &g->column, &zero, &g->columns);
    int leading = rows > 0 ? rows : 1, da[9], db[9], info;
    double *a = malloc(sizeof *a * (size_t)(leading * (columns + 1))), *b = malloc(sizeof *b * (size_t)leading), worst = 0;
    int *pivots = malloc(sizeof *pivots * (size_t)(leading + BLOCK));
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            a[j * leading + i] = element(global(i, g->row, g->rows), global(j, g->column, g->columns));
    for (int i = 0; i < rows; i++)
        b[i] = right_side(global(i, g->row, g->rows));
    descinit_(da, &n, &n, &block, &block, &zero, &zero, &g->context, &leading, &info);
    descinit_(db, &n, &one, &block, &block, &zero, &zero, &g->context, &leading, &info);
    pdgesv_(&n, &one, a, &one, &one, da, pivots, b, &one, &one, db, &info);
    for (int i = 0; g->column == 0 && i < rows; i++)
        worst = fmax(worst, fabs(b[i] - (global(i, g->row, g->rows) + 1)));
    free(pivots);
    free(b);
    free(a);
    return info == 0 ? worst : INFINITY;
}

static int run(void)
{
    struct grid g;
    int rank, size, blacs_rank, blacs_size, sides[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, sides);
    Cblacs_pinfo(&blacs_rank, &blacs_size);
    Cblacs_get(-1, 0, &g.context);
    Cblacs_gridinit(&g.context, "Row", sides[0], sides[1]);
    Cblacs_gridinfo(g.context, &g.rows, &g.columns, &g.row, &g.column);
    double mine = blacs_rank == rank && blacs_size == size ? solve(&g) : INFINITY, worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    Cblacs_gridexit(g.context);
    if (rank == 0)
        printf("%d x %d ranks solved %d equations, largest error %.17g\n", g.rows, g.columns, N, worst);
    return !(worst < 1e-10);
}

int main(int argc, char **argv)
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        MPI_Init(&argc, &argv);
        wrong += run();
        MPI_Finalize();
    }
    return wrong != 0;
}
