/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * Who has the cells beside a part, and the messages that bring them from other processes. A star-shaped stencil needs no
 * edges and corners.
 */

#include "rtm.h"

#include <stdlib.h>
#include <string.h>

/* The rank that sends for a part of a process. */
static int rank_of(const struct team *t, int process, int part)
{
	return t->ranks == 1 ? process : process * t->ranks + part;
}

/* Tag of a message to a face of a part. Where parts are ranks it could do without the part. */
static int tag_of(int part, int face)
{
	return part * 2 * AXES + face;
}

/* What is sent out of side 1 comes in at side 0 of the other part: faces f and f ^ 1. */
static void add_face(struct worker *w, int f, int process, int part)
{
	struct team *t = w->team;
	struct face *face = &w->face[w->faces];
	int axis = f / 2, mine = w - t->worker;

	face->out = face->in = w->part;
	if (f % 2 == 0) {
		face->out.to[axis] = w->part.from[axis] + REACH;
		face->in.to[axis] = w->part.from[axis];
		face->in.from[axis] = w->part.from[axis] - REACH;
	} else {
		face->out.from[axis] = w->part.to[axis] - REACH;
		face->in.from[axis] = w->part.to[axis];
		face->in.to[axis] = w->part.to[axis] + REACH;
	}
	face->count = 1;
	for (int a = 0; a < AXES; a++)
		face->count *= face->out.to[a] - face->out.from[a];
	face->sent = allocate(t, face->count);
	face->received = allocate(t, face->count);
	MPI_Recv_init(face->received, face->count, MPI_FLOAT, rank_of(t, process, part), tag_of(mine, f), MPI_COMM_WORLD, &w->request[w->faces]);
	MPI_Send_init(face->sent, face->count, MPI_FLOAT, rank_of(t, process, part), tag_of(part, f ^ 1), MPI_COMM_WORLD, &w->request[2 * AXES + w->faces]);
	w->faces++;
}

/* Finds what is beside each side of a worker's part: a part of this process, one of another process, or nothing. */
void worker_open(struct worker *w)
{
	struct team *t = w->team;
	int mine[AXES];

	coordinates(w - t->worker, t->parts, mine);
	w->part = split(&t->box, t->parts, mine);
	for (int f = 0; f < 2 * AXES; f++) {
		int axis = f / 2, part[AXES], process[AXES];

		memcpy(part, mine, sizeof part);
		memcpy(process, t->process, sizeof process);
		part[axis] += f % 2 ? 1 : -1;
		if (part[axis] >= 0 && part[axis] < t->parts[axis]) {
			w->neighbour[w->neighbours++] = &t->worker[number(part, t->parts)];
			continue;
		}
		process[axis] += f % 2 ? 1 : -1;
		part[axis] = f % 2 ? 0 : t->parts[axis] - 1;
		if (process[axis] >= 0 && process[axis] < t->processes[axis])
			add_face(w, f, number(process, t->processes), number(part, t->parts));
	}
	/* Until here the number of receives was not known: the sends follow them without a gap. */
	memmove(w->request + w->faces, w->request + 2 * AXES, w->faces * sizeof *w->request);
}

void worker_close(struct worker *w)
{
	for (int n = 0; n < 2 * w->faces; n++)
		MPI_Request_free(&w->request[n]);
	for (int n = 0; n < w->faces; n++) {
		free(w->face[n].sent);
		free(w->face[n].received);
	}
}

static void pack(const struct team *t, const float *grid, const struct face *f)
{
	size_t row = f->out.to[X] - f->out.from[X];
	float *to = f->sent;

	for (int z = f->out.from[Z]; z < f->out.to[Z]; z++)
		for (int y = f->out.from[Y]; y < f->out.to[Y]; y++, to += row)
			memcpy(to, grid + cell(t, f->out.from[X], y, z), row * sizeof *to);
}

static void unpack(const struct team *t, float *grid, const struct face *f)
{
	size_t row = f->in.to[X] - f->in.from[X];
	const float *from = f->received;

	for (int z = f->in.from[Z]; z < f->in.to[Z]; z++)
		for (int y = f->in.from[Y]; y < f->in.to[Y]; y++, from += row)
			memcpy(grid + cell(t, f->in.from[X], y, z), from, row * sizeof *from);
}

/* Brings the halo that a step reads. All messages are complete when it returns, so the caller may wait for other threads. */
void exchange(struct worker *w, int step, struct timer *timer)
{
	float *grid = w->team->grid[step % 2];

	timer_enter(timer, START);
	MPI_Startall(w->faces, w->request);
	for (int n = 0; n < w->faces; n++) {
		timer_enter(timer, PACK);
		pack(w->team, grid, &w->face[n]);
		timer_enter(timer, START);
		MPI_Start(&w->request[w->faces + n]);
		w->messages++;
		w->bytes += w->face[n].count * (long)sizeof(float);
	}
	for (int left = 2 * w->faces; left > 0; left--) {
		int n;

		timer_enter(timer, WAIT);
		MPI_Waitany(2 * w->faces, w->request, &n, MPI_STATUS_IGNORE);
		timer_enter(timer, PACK);
		if (n < w->faces)
			unpack(w->team, grid, &w->face[n]);
	}
	timer_enter(timer, IDLE);
}
