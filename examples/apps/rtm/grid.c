/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * The grid of a process, and the one kernel of all forms. The order of operations in a cell is fixed, so the values
 * do not depend on who computes them; that takes a compiler that keeps to IEEE 754 (no -ffast-math, no contraction).
 */

#include "rtm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The second derivative of order 8. */
static const float weight[REACH + 1] = { -205.0f / 72, 8.0f / 5, -1.0f / 5, 8.0f / 315, -1.0f / 560 };

int reach(const struct problem *p, int axis)
{
	return p->whole[axis] > 1 ? REACH : 0;
}

struct box split(const struct box *box, const int pieces[AXES], const int at[AXES])
{
	struct box b;

	for (int a = 0; a < AXES; a++) {
		int cells = box->to[a] - box->from[a];

		b.from[a] = box->from[a] + (int)((long)cells * at[a] / pieces[a]);
		b.to[a] = box->from[a] + (int)((long)cells * (at[a] + 1) / pieces[a]);
	}
	return b;
}

void coordinates(int number, const int pieces[AXES], int at[AXES])
{
	at[X] = number % pieces[X];
	at[Y] = number / pieces[X] % pieces[Y];
	at[Z] = number / pieces[X] / pieces[Y];
}

long number(const int at[AXES], const int pieces[AXES])
{
	return ((long)at[Z] * pieces[Y] + at[Y]) * pieces[X] + at[X];
}

float *allocate(struct team *t, size_t cells)
{
	float *p = malloc(cells * sizeof *p);

	if (p == NULL) {
		fprintf(stderr, "rtm: out of memory for %zu cells\n", cells);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	atomic_fetch_add(&t->allocated, (long)(cells * sizeof *p));
	return p;
}

/* Makes the grids and the workers of a process; one thread does it. The workers fill the grids. */
void team_open(struct team *t)
{
	ptrdiff_t cells = 1;
	struct box whole = { .from = { 0 } };

	memcpy(whole.to, t->problem->whole, sizeof whole.to);
	t->box = split(&whole, t->processes, t->process);
	for (int a = 0; a < AXES; a++) {
		t->stride[a] = cells;
		cells *= t->box.to[a] - t->box.from[a] + 2 * reach(t->problem, a);
	}
	atomic_init(&t->allocated, 0);
	t->grid[0] = allocate(t, cells);
	t->grid[1] = allocate(t, cells);
	t->worker = aligned_alloc(_Alignof(struct worker), t->workers * sizeof *t->worker);
	if (t->worker == NULL) {
		fprintf(stderr, "rtm: out of memory for %d workers\n", t->workers);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	memset(t->worker, 0, t->workers * sizeof *t->worker);
	for (int n = 0; n < t->workers; n++) {
		t->worker[n].team = t;
		atomic_init(&t->worker[n].steps, 0);
	}
}

void team_close(struct team *t)
{
	free(t->grid[0]);
	free(t->grid[1]);
	free(t->worker);
}

size_t cell(const struct team *t, int x, int y, int z)
{
	const int at[AXES] = { x, y, z };
	size_t n = 0;

	for (int a = 0; a < AXES; a++)
		n += (at[a] - t->box.from[a] + reach(t->problem, a)) * t->stride[a];
	return n;
}

/* A broad pulse, at rest; around the whole grid it is 0. */
static float pulse(const struct problem *p, const int at[AXES])
{
	int distance = 0, width = 0;

	for (int a = 0; a < AXES; a++) {
		int d = at[a] - p->whole[a] / 3;

		if (at[a] < 0 || at[a] >= p->whole[a])
			return 0;
		distance += d * d;
		width += p->whole[a] * p->whole[a];
	}

	float value = 1 - (float)distance / (float)width;

	return value * value;
}

/*
 * Writes a box of both grids, and the halo beside it. Who computes the box does it, so that the kernel places the pages near that
 * thread. Cells of the halo that messages bring are NaN until then, so a halo that nobody sends is noticed.
 */
void fill(const struct team *t, const struct box *b)
{
	struct box all = *b;

	for (int a = 0; a < AXES; a++) {
		all.from[a] -= b->from[a] == t->box.from[a] ? reach(t->problem, a) : 0;
		all.to[a] += b->to[a] == t->box.to[a] ? reach(t->problem, a) : 0;
	}
	for (int z = all.from[Z]; z < all.to[Z]; z++)
		for (int y = all.from[Y]; y < all.to[Y]; y++)
			for (int x = all.from[X]; x < all.to[X]; x++) {
				const int at[AXES] = { x, y, z };
				float value = pulse(t->problem, at);

				for (int a = 0; a < AXES; a++)
					if (value != 0 && (at[a] < t->box.from[a] || at[a] >= t->box.to[a]))
						value = NAN;
				t->grid[0][cell(t, x, y, z)] = t->grid[1][cell(t, x, y, z)] = value;
			}
}

/* Adds the second derivative along an axis to a row. */
static void add_derivative(float *restrict sum, const float *restrict now, ptrdiff_t stride, int cells)
{
#pragma omp simd
	for (int i = 0; i < cells; i++)
		sum[i] += weight[1] * (now[i - stride] + now[i + stride]) + weight[2] * (now[i - 2 * stride] + now[i + 2 * stride]) +
			weight[3] * (now[i - 3 * stride] + now[i + 3 * stride]) + weight[4] * (now[i - 4 * stride] + now[i + 4 * stride]);
}

/* Computes the cells of a box in one step of time. The sound is faster in the upper half of Y. */
void update(const struct team *t, int step, const struct box *b)
{
	const struct problem *p = t->problem;
	int cells = b->to[X] - b->from[X], axes = 0;
	float sum[cells];

	for (int a = 0; a < AXES; a++)
		axes += p->whole[a] > 1;
	for (int z = b->from[Z]; z < b->to[Z]; z++)
		for (int y = b->from[Y]; y < b->to[Y]; y++) {
			size_t first = cell(t, b->from[X], y, z);
			const float *restrict now = t->grid[step % 2] + first;
			float *restrict next = t->grid[(step + 1) % 2] + first;
			float speed = y < p->whole[Y] / 2 ? 0.1f : 0.16f; /* squared, in cells of the grid for each step */

			for (int i = 0; i < cells; i++)
				sum[i] = axes * weight[0] * now[i];
			for (int a = 0; a < AXES; a++)
				if (p->whole[a] > 1)
					add_derivative(sum, now, t->stride[a], cells);
			for (int i = 0; i < cells; i++)
				next[i] = 2 * now[i] - next[i] + speed * sum[i];
		}
}

/* A sum over the cells that step reads, so that the order of cells and ranks does not matter. */
uint64_t checksum(const struct team *t, int step, const struct box *b)
{
	uint64_t sum = 0;

	for (int z = b->from[Z]; z < b->to[Z]; z++)
		for (int y = b->from[Y]; y < b->to[Y]; y++)
			for (int x = b->from[X]; x < b->to[X]; x++) {
				const int at[AXES] = { x, y, z };
				uint32_t bits;

				memcpy(&bits, &t->grid[step % 2][cell(t, x, y, z)], sizeof bits);

				uint64_t mixed = bits ^ number(at, t->problem->whole) * 0x9e3779b97f4a7c15u;

				mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
				sum += mixed ^ mixed >> 32;
			}
	return sum;
}
