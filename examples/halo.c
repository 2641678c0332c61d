/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * halo: Jacobi iterations of a 7-point stencil on a periodic 3D grid, with the
 * halo exchange of the TPSL paper's listing 2.
 *
 * X and Y are cut over processes, so the halos are X-Z and Y-Z planes. Z is
 * not: the thread ranks of a process share its one grid, and each computes,
 * sends and receives its own slice of Z. A slice of a plane travels straight
 * out of the shared grid, as a subarray datatype; the other slices of the same
 * process are simply read. With one rank per process it is an ordinary MPI
 * program.
 *
 * Each process also computes the whole grid serially. Every halo cell of every
 * iteration, and the final grid, must equal that answer bit by bit; so the
 * checksum does not depend on how ranks are laid out.
 */

#include <mpi.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z };

/* The whole grid, and the part [from, from+size) of it that this process has. */
static int whole[3] = { 48, 48, 48 };
static int from[3], size[3];
static int iterations = 10;

/* Shared by the threads of this process. */
static double *cur, *next; /* [size[Z]][size[Y] + 2][size[X] + 2], halo included */
static double *want, *spare; /* [whole[Z]][whole[Y]][whole[X]], the serial answer */

static int ranks_per_process(void)
{
#ifdef TPSL
	return TPSL_Local_size();
#else
	return 1;
#endif
}

/* i and j run from -1 to size, k from 0 to size - 1. */
static size_t at(int k, int j, int i)
{
	return ((size_t)k * (size[Y] + 2) + j + 1) * (size[X] + 2) + i + 1;
}

/* Global coordinates wrap around. */
static size_t whole_at(int k, int j, int i)
{
	k = (k + whole[Z]) % whole[Z];
	j = (j + whole[Y]) % whole[Y];
	i = (i + whole[X]) % whole[X];
	return ((size_t)k * whole[Y] + j) * whole[X] + i;
}

static double stencil(double c, double w, double e, double s, double n, double b, double t)
{
	return 0.25 * c + 0.125 * (w + e + s + n + b + t);
}

static void serial_step(void)
{
	for (int k = 0; k < whole[Z]; k++)
		for (int j = 0; j < whole[Y]; j++)
			for (int i = 0; i < whole[X]; i++)
				spare[whole_at(k, j, i)] = stencil(
					want[whole_at(k, j, i)], want[whole_at(k, j, i - 1)],
					want[whole_at(k, j, i + 1)], want[whole_at(k, j - 1, i)],
					want[whole_at(k, j + 1, i)], want[whole_at(k - 1, j, i)],
					want[whole_at(k + 1, j, i)]);

	double *t = want;
	want = spare;
	spare = t;
}

/* Computes the slice [k0, k1) of next from cur. */
static void step(int k0, int k1)
{
	for (int k = k0; k < k1; k++) {
		int below = (k + size[Z] - 1) % size[Z], above = (k + 1) % size[Z];

		for (int j = 0; j < size[Y]; j++)
			for (int i = 0; i < size[X]; i++)
				next[at(k, j, i)] = stencil(
					cur[at(k, j, i)], cur[at(k, j, i - 1)],
					cur[at(k, j, i + 1)], cur[at(k, j - 1, i)],
					cur[at(k, j + 1, i)], cur[at(below, j, i)],
					cur[at(above, j, i)]);
	}
}

static void *cells(size_t n)
{
	double *p = malloc(n * sizeof *p);

	if (p == NULL) {
		fprintf(stderr, "halo: out of memory for %zu cells\n", n);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (size_t i = 0; i < n; i++)
		p[i] = -1; /* a halo cell that nobody sends is noticed */
	return p;
}

/* Allocates the grids of this process and fills them; one thread does it. */
static void fill(void)
{
	size_t part = (size_t)size[Z] * (size[Y] + 2) * (size[X] + 2);
	size_t all = (size_t)whole[Z] * whole[Y] * whole[X];

	cur = cells(part);
	next = cells(part);
	want = cells(all);
	spare = cells(all);
	for (size_t n = 0; n < all; n++)
		want[n] = (double)(n * 2654435761u % 1000003) / 1000003;
	for (int k = 0; k < size[Z]; k++)
		for (int j = 0; j < size[Y]; j++)
			for (int i = 0; i < size[X]; i++)
				cur[at(k, j, i)] =
					want[whole_at(k, from[Y] + j, from[X] + i)];
}

/*
 * Counts the cells of a box that differ from the serial answer; a rank's first
 * is reported. A box is its first and past-the-end index in Z, Y and X.
 */
static void check(long *wrong, const char *what, int k0, int k1, int j0, int j1, int i0, int i1)
{
	for (int k = k0; k < k1; k++)
		for (int j = j0; j < j1; j++)
			for (int i = i0; i < i1; i++) {
				double got = cur[at(k, j, i)];
				double answer = want[whole_at(k, from[Y] + j, from[X] + i)];

				if (memcmp(&got, &answer, sizeof got) != 0 && (*wrong)++ == 0)
					fprintf(stderr, "halo: %s: cell z=%d y=%d x=%d is %.17g, expected %.17g\n",
						what, k, from[Y] + j, from[X] + i, got, answer);
			}
}

static void check_halos(long *wrong, int k0, int k1)
{
	check(wrong, "western halo", k0, k1, 0, size[Y], -1, 0);
	check(wrong, "eastern halo", k0, k1, 0, size[Y], size[X], size[X] + 1);
	check(wrong, "southern halo", k0, k1, -1, 0, 0, size[X]);
	check(wrong, "northern halo", k0, k1, size[Y], size[Y] + 1, 0, size[X]);
}

/* A sum, so that the order of cells and ranks does not matter. */
static uint64_t checksum(int k0, int k1)
{
	uint64_t sum = 0;

	for (int k = k0; k < k1; k++)
		for (int j = 0; j < size[Y]; j++)
			for (int i = 0; i < size[X]; i++) {
				uint64_t bits;

				memcpy(&bits, &cur[at(k, j, i)], sizeof bits);
				bits ^= whole_at(k, from[Y] + j, from[X] + i) * 0x9e3779b97f4a7c15u;
				bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
				sum += bits ^ bits >> 32;
			}
	return sum;
}

/* The slice [k0, k1) of a plane: ny rows from row j, nx columns from column i. */
static MPI_Datatype plane(int k0, int k1, int j, int ny, int i, int nx)
{
	int sizes[3] = { size[Z], size[Y] + 2, size[X] + 2 };
	int sub[3] = { k1 - k0, ny, nx };
	int start[3] = { k0, j + 1, i + 1 };
	MPI_Datatype type;

	MPI_Type_create_subarray(3, sizes, sub, start, MPI_ORDER_C, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	return type;
}

/* Everything one rank does; returns whether the answer was wrong. */
static int run(int k)
{
	int rank, ranks, least, most;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Allreduce(&k, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&k, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);

	int slot = omp_get_thread_num(), process = rank / k, cut[2] = { 0, 0 };
	const char *bad = NULL;

	MPI_Dims_create(ranks / k, 2, cut);
	if (least != most || ranks % k != 0)
		bad = "every process must have the same number of ranks";
	else if (rank % k != slot)
		bad = "the ranks of a process must follow its thread numbers";
	else if (whole[X] < cut[X] || whole[Y] < cut[Y] || whole[Z] < k)
		bad = "the grid is too small for so many ranks";
	if (bad != NULL) {
		fprintf(stderr, "halo: rank %d: %s\n", rank, bad);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}

	int px = process % cut[X], py = process / cut[X];

#pragma omp single
	{
		from[X] = px * whole[X] / cut[X];
		from[Y] = py * whole[Y] / cut[Y];
		size[X] = (px + 1) * whole[X] / cut[X] - from[X];
		size[Y] = (py + 1) * whole[Y] / cut[Y] - from[Y];
		size[Z] = whole[Z];
		fill();
	}

	/* West, east, south, north: the rank with our slot in the process there. */
	int k0 = slot * size[Z] / k, k1 = (slot + 1) * size[Z] / k;
	int to[4] = {
		(py * cut[X] + (px + cut[X] - 1) % cut[X]) * k + slot,
		(py * cut[X] + (px + 1) % cut[X]) * k + slot,
		((py + cut[Y] - 1) % cut[Y] * cut[X] + px) * k + slot,
		((py + 1) % cut[Y] * cut[X] + px) * k + slot,
	};
	MPI_Datatype edge[4] = {
		plane(k0, k1, 0, size[Y], 0, 1),
		plane(k0, k1, 0, size[Y], size[X] - 1, 1),
		plane(k0, k1, 0, 1, 0, size[X]),
		plane(k0, k1, size[Y] - 1, 1, 0, size[X]),
	};
	MPI_Datatype halo[4] = {
		plane(k0, k1, 0, size[Y], -1, 1),
		plane(k0, k1, 0, size[Y], size[X], 1),
		plane(k0, k1, -1, 1, 0, size[X]),
		plane(k0, k1, size[Y], 1, 0, size[X]),
	};
	long wrong = 0;

	for (int iter = 0; iter < iterations; iter++) {
		MPI_Request req[8];
		MPI_Status status[8];

		/* What goes west arrives in an eastern halo: tag d ^ 1. */
		for (int d = 0; d < 4; d++)
			MPI_Irecv(cur, 1, halo[d], to[d], d ^ 1, MPI_COMM_WORLD, &req[d]);
		for (int d = 0; d < 4; d++)
			MPI_Isend(cur, 1, edge[d], to[d], d, MPI_COMM_WORLD, &req[4 + d]);
		MPI_Waitall(8, req, status);
		check_halos(&wrong, k0, k1);
		step(k0, k1);
#pragma omp barrier
#pragma omp single
		{
			double *t = cur;
			cur = next;
			next = t;
			serial_step();
		}
	}
	check(&wrong, "final grid", k0, k1, 0, size[Y], 0, size[X]);

	uint64_t sum = checksum(k0, k1), total;

	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("halo: %d rank%s, %d process%s x %d thread rank%s, grid %dx%dx%d, "
		       "%d iterations, checksum 0x%016llx, ",
		       ranks, ranks == 1 ? "" : "s", ranks / k, ranks / k == 1 ? "" : "es",
		       k, k == 1 ? "" : "s", whole[X], whole[Y], whole[Z], iterations,
		       (unsigned long long)total);
		if (wrong == 0)
			printf("verified\n");
		else
			printf("%ld cells WRONG\n", wrong);
	}
	for (int d = 0; d < 4; d++) {
		MPI_Type_free(&edge[d]);
		MPI_Type_free(&halo[d]);
	}
	return wrong != 0;
}

static void options(int argc, char **argv)
{
	static const char *const name[] = { "-x", "-y", "-z", "-iters" };
	int *const value[] = { &whole[X], &whole[Y], &whole[Z], &iterations };

	for (int a = 1; a < argc; a += 2) {
		int o = 0;
		char *end;

		while (o < 4 && strcmp(argv[a], name[o]) != 0)
			o++;
		if (o == 4) {
			fprintf(stderr, "halo: unknown option %s; usage: halo [-x N] [-y N] [-z N] [-iters N]\n", argv[a]);
			exit(2);
		}

		long n = a + 1 < argc ? strtol(argv[a + 1], &end, 10) : 0;

		if (n < 1 || n > 10000 || *end != '\0') {
			fprintf(stderr, "halo: %s takes a number from 1 to 10000\n", argv[a]);
			exit(2);
		}
		*value[o] = n;
	}
}

int main(int argc, char **argv)
{
	int failed = 0;

	options(argc, argv);
#pragma omp parallel num_threads(ranks_per_process()) reduction(| : failed)
	{
		MPI_Init(&argc, &argv);
		failed = run(omp_get_num_threads());
		MPI_Finalize();
	}
	free(cur);
	free(next);
	free(want);
	free(spare);
	return failed;
}
