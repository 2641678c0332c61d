/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * Poisson's equation on a square, by five points and the method of conjugate gradients. The solution is known, and is 0 around the
 * square. Each rank of a communicator has some of the rows. All functions are collective but poisson_free.
 */
#ifndef POISSON_H
#define POISSON_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct poisson; /* a rank's part of the equations and of their solution */

/* Makes the equations of edge x edge unknowns. NULL, on all ranks: fewer rows than ranks, or no memory on one. */
struct poisson *poisson_new(MPI_Comm comm, int edge);

/* Begins a solution, from 0. Returns the square of the residual's length. */
double poisson_begin(struct poisson *p);

/* Makes one iteration: an exchange of rows with both neighbours, and two sums over all ranks. Returns the new square. */
double poisson_step(struct poisson *p);

/* The largest difference of an unknown from the solution. */
double poisson_error(const struct poisson *p);

void poisson_free(struct poisson *p);

struct poisson_report {
	int iterations;
	double error;   /* NAN: there were no equations to solve */
	double seconds; /* that the iterations took, in the slowest rank */
};

/* All of the above: iterates until the residual's length is 1e-12 of the first one, and for at most 20 times edge iterations. */
struct poisson_report poisson_solve(MPI_Comm comm, int edge);

#ifdef __cplusplus
}
#endif

#endif
