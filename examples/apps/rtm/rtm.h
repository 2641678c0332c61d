/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * rtm.h: the grid, the halo and the timer that all forms of rtm have in common.
 */

#ifndef RTM_H
#define RTM_H

#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { X, Y, Z, AXES };
enum { REACH = 4 }; /* cells that the stencil reads on each side */

/* What is computed. A grid with one cell along an axis does not extend along it: 2D is one cell along Z. */
struct problem {
	int whole[AXES];
	int steps;
};

/* Cells, by their coordinates in the whole grid: [from, to) along each axis. */
struct box {
	int from[AXES], to[AXES];
};

/* Where a thread's time goes: it is in one region at any time. */
enum region { COMPUTE, PACK, START, WAIT, IDLE, REGIONS };

struct timer {
	double begun, since, total, spent[REGIONS];
	enum region region;
};

void timer_start(struct timer *t);
void timer_enter(struct timer *t, enum region region);
void timer_stop(struct timer *t);

/* A side of a part behind which another process has the cells. */
struct face {
	struct box out, in; /* cells to send, cells of the halo to receive */
	int count;
	float *sent, *received;
};

/* A thread, and its part of the process's grid. Where one part is the process's whole box, it is that of worker 0. */
struct worker {
	_Alignas(128) atomic_int steps; /* that its part has done */
	struct team *team;
	struct box part;
	struct worker *neighbour[2 * AXES]; /* in this process: their cells are read in place */
	struct face face[2 * AXES];
	MPI_Request request[4 * AXES]; /* receives of all faces, then sends */
	int neighbours, faces;
	long messages, bytes; /* sent */
	struct timer timer;
};

/* The workers of a process and the one grid that they share. */
struct team {
	const struct problem *problem;
	struct box box;
	float *grid[2]; /* step n reads grid[n % 2] and writes the other; halo included */
	ptrdiff_t stride[AXES];
	int process[AXES], processes[AXES]; /* coordinates of this process, and how many there are along each axis */
	int parts[AXES]; /* of the box, along each axis */
	int ranks; /* in this process: 1, or as many as parts */
	int workers;
	struct worker *worker;
	atomic_long allocated; /* bytes of grids and buffers */
};

/* grid.c */
int reach(const struct problem *p, int axis);
struct box split(const struct box *box, const int pieces[AXES], const int at[AXES]);
void coordinates(int number, const int pieces[AXES], int at[AXES]);
long number(const int at[AXES], const int pieces[AXES]);
float *allocate(struct team *t, size_t cells);
void team_open(struct team *t);
void team_close(struct team *t);
size_t cell(const struct team *t, int x, int y, int z);
void fill(const struct team *t, const struct box *b);
void update(const struct team *t, int step, const struct box *b);
uint64_t checksum(const struct team *t, int step, const struct box *b);

/* halo.c */
void worker_open(struct worker *w);
void worker_close(struct worker *w);
void exchange(struct worker *w, int step, struct timer *timer);

#endif
