/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * rtm: acoustic waves in 2D or 3D, the forward step of Reverse Time Migration, by a stencil of order 8. One kernel, in five forms:
 *
 * full    each rank has a grid of its own, and receives a halo from all its neighbours
 * master  OpenMP computes; outside of its regions the master thread talks for the rank
 * tasks   OpenMP tasks compute blocks; those inside are computed while a task brings the halo
 * dd      each thread has a part of the rank's grid, and talks to other ranks under MPI_THREAD_MULTIPLE
 * ranks   the same, and each thread is a rank: those of a process share one grid
 *
 * The grid after the last step is the same to the last bit in all forms and layouts, and so is its checksum.
 */

#include "rtm.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void timer_start(struct timer *t)
{
	memset(t, 0, sizeof *t);
	t->region = IDLE;
	t->begun = t->since = MPI_Wtime();
}

void timer_enter(struct timer *t, enum region region)
{
	double now = MPI_Wtime();

	t->spent[t->region] += now - t->since;
	t->since = now;
	t->region = region;
}

void timer_stop(struct timer *t)
{
	timer_enter(t, IDLE);
	t->total = t->since - t->begun;
}

/* Blocks of the box, long along X: small enough for a cache, and more than there are threads. */
enum { EDGE = 16 };

static int blocks(const struct team *t, int pieces[AXES])
{
	pieces[X] = 1;
	for (int a = Y; a < AXES; a++)
		pieces[a] = (t->box.to[a] - t->box.from[a] + EDGE - 1) / EDGE;
	return pieces[Y] * pieces[Z];
}

static struct box block(const struct team *t, int n)
{
	int pieces[AXES], at[AXES];

	blocks(t, pieces);
	coordinates(n, pieces, at);
	return split(&t->box, pieces, at);
}

/* full, dd, ranks: a worker computes its part, and reads those of its neighbours in the process where they are. */
static void advance_part(struct worker *w)
{
	for (int step = 0; step < w->team->problem->steps; step++) {
		exchange(w, step, &w->timer);
		/* Neighbours have the values that this step reads, and no longer read those that it overwrites. */
		for (int n = 0; n < w->neighbours; n++)
			while (atomic_load_explicit(&w->neighbour[n]->steps, memory_order_acquire) < step)
				sched_yield();
		timer_enter(&w->timer, COMPUTE);
		update(w->team, step, &w->part);
		timer_enter(&w->timer, IDLE);
		atomic_store_explicit(&w->steps, step + 1, memory_order_release);
	}
}

static void advance_dd(struct worker *w)
{
#pragma omp parallel num_threads(w->team->workers)
	advance_part(&w[omp_get_thread_num()]);
}

static void advance_master(struct worker *w)
{
	const struct team *t = w->team;
	int pieces[AXES], count = blocks(t, pieces);

	for (int step = 0; step < t->problem->steps; step++) {
		exchange(w, step, &w->timer);
#pragma omp parallel num_threads(t->workers)
		{
			struct timer *timer = &w[omp_get_thread_num()].timer;

			timer_enter(timer, COMPUTE);
#pragma omp for schedule(static) nowait
			for (int n = 0; n < count; n++) {
				struct box b = block(t, n);

				update(t, step, &b);
			}
			timer_enter(timer, IDLE);
		}
	}
}

/* Whether a block reads cells that messages bring. */
static int reads_halo(const struct worker *w, const struct box *b)
{
	int reads = 0;

	for (int n = 0; n < w->faces; n++) {
		int inside = 0;

		for (int a = 0; a < AXES; a++)
			inside |= b->from[a] - REACH >= w->face[n].in.to[a] || b->to[a] + REACH <= w->face[n].in.from[a];
		reads |= !inside;
	}
	return reads;
}

static void update_block(struct worker *w, int step, int n)
{
	struct timer *timer = &w[omp_get_thread_num()].timer;
	struct box b = block(w->team, n);

	timer_enter(timer, COMPUTE);
	update(w->team, step, &b);
	timer_enter(timer, IDLE);
}

/* One task at a time talks, on any thread: MPI_THREAD_SERIALIZED. */
static void advance_tasks(struct worker *w)
{
	const struct team *t = w->team;
	int pieces[AXES], count = blocks(t, pieces);

#pragma omp parallel num_threads(t->workers)
#pragma omp single
	for (int step = 0; step < t->problem->steps; step++) {
#pragma omp task depend(out : w->face)
		exchange(w, step, &w[omp_get_thread_num()].timer);
		for (int n = 0; n < count; n++) {
			struct box b = block(t, n);

			if (reads_halo(w, &b)) {
#pragma omp task depend(in : w->face)
				update_block(w, step, n);
			} else {
#pragma omp task
				update_block(w, step, n);
			}
		}
#pragma omp taskwait
	}
}

static const struct form {
	const char *name;
	int level;
	void (*advance)(struct worker *);
	enum { ONE_PART, PART_EACH } parts; /* of a process's grid */
	int threads_are_ranks; /* of a process, and share its grid */
} forms[] = {
	{ "full", MPI_THREAD_SINGLE, advance_part, ONE_PART, 0 },
	{ "master", MPI_THREAD_FUNNELED, advance_master, ONE_PART, 0 },
	{ "tasks", MPI_THREAD_SERIALIZED, advance_tasks, ONE_PART, 0 },
	{ "dd", MPI_THREAD_MULTIPLE, advance_dd, PART_EACH, 0 },
	{ "ranks", MPI_THREAD_SINGLE, advance_part, PART_EACH, 1 },
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static const struct form *form = &forms[0];
static struct problem problem = { { 64, 64, 64 }, 10 };
static int threads = 1;
static int cut[AXES]; /* of the grid into processes; 0: as MPI_Dims_create likes */

/* Cuts the whole grid along the last axis rather than along the others, and a process's box along the one before: so many of its parts send. */
static void divide(int pieces, int last, int into[AXES])
{
	int axes = problem.whole[Z] > 1 ? 3 : 2, dims[AXES] = { 0 };

	MPI_Dims_create(pieces, axes, dims);
	into[X] = axes == 3 ? dims[2] : 1;
	into[Z] = 1;
	into[last] = dims[0];
	into[last == axes - 1 ? axes - 2 : axes - 1] = dims[1];
}

/* Ends the job unless the program is right about who shares a process: rank / ranks is the process, and rank % ranks the slot. */
static void check_layout(int rank, int size, int ranks, int slot)
{
	int right = size % ranks == 0 && rank % ranks == slot;

#ifdef TPSL
	for (int other = 0; other < size; other++)
		right &= TPSL_Same_process(other) == (other / ranks == rank / ranks);
#endif
	if (!right) {
		fprintf(stderr, "rtm: rank %d: each process must have %d ranks that follow each other, in the order of its threads\n", rank, ranks);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

/* What is wrong with the sizes, NULL: nothing. */
static const char *sizes(const struct team *t, int processes)
{
	if ((long)t->processes[X] * t->processes[Y] * t->processes[Z] != processes)
		return "-cut must have as many pieces as there are processes";
	for (int a = 0; a < AXES; a++)
		if (t->processes[a] * t->parts[a] > 1 && problem.whole[a] / t->processes[a] / t->parts[a] < REACH)
			return "the grid is too small for so many ranks and threads: a part needs 4 cells along each axis that is cut";
	return NULL;
}

/* Adds up what the ranks know, and tells it. */
static void report(const struct team *t, int first, int last, const struct box *mine)
{
	enum { TOTAL = REGIONS, SUMS };
	double spent[SUMS] = { 0 }, slowest = 0;
	long counts[3] = { 0 };
	uint64_t sum = checksum(t, problem.steps, mine);
	int rank, processes = t->processes[X] * t->processes[Y] * t->processes[Z], workers = processes * t->workers;

	for (const struct worker *w = &t->worker[first]; w < &t->worker[last]; w++) {
		for (int r = 0; r < REGIONS; r++)
			spent[r] += w->timer.spent[r] / workers;
		spent[TOTAL] += w->timer.total / workers;
		slowest = w->timer.total > slowest ? w->timer.total : slowest;
		counts[0] += w->messages;
		counts[1] += w->bytes;
	}
	counts[2] = first == 0 ? atomic_load(&t->allocated) : 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Reduce(rank ? spent : MPI_IN_PLACE, spent, SUMS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(rank ? &slowest : MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(rank ? counts : MPI_IN_PLACE, counts, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(rank ? &sum : MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank != 0)
		return;
	printf("rtm: %s, grids: %d, workers of each: %d, cut %dx%dx%d, grid %dx%dx%d, %d steps, checksum 0x%016llx\n", form->name, processes, t->workers,
	       t->processes[X], t->processes[Y], t->processes[Z], problem.whole[X], problem.whole[Y], problem.whole[Z], problem.steps, (unsigned long long)sum);
	printf("rtm: slowest worker %.6f s; mean %.6f s: compute %.6f, pack %.6f, start %.6f, wait %.6f, idle %.6f\n", slowest, spent[TOTAL], spent[COMPUTE],
	       spent[PACK], spent[START], spent[WAIT], spent[IDLE]);
	printf("rtm: halo: %ld messages, %ld bytes; grids and buffers: %ld bytes\n", counts[0], counts[1], counts[2]);
}

/* Fills the grid. Who computes cells writes them first. */
static void first_touch(const struct team *t, int first, int last)
{
	int pieces[AXES], each = form->parts == PART_EACH, count = each ? last - first : blocks(t, pieces);

#pragma omp parallel for schedule(static) num_threads(last - first)
	for (int n = 0; n < count; n++) {
		struct box b = each ? t->worker[first + n].part : block(t, n);

		fill(t, &b);
	}
}

/* What one rank does with its workers, of which a process whose threads are ranks has one for each. */
static void run(struct team *t, int first, int last)
{
	struct worker *w = &t->worker[first];

	for (int n = first; n < last; n++)
		if (form->parts == PART_EACH || n == 0)
			worker_open(&t->worker[n]);
	first_touch(t, first, last);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int n = first; n < last; n++)
		timer_start(&t->worker[n].timer);
	form->advance(w);
	for (int n = first; n < last; n++)
		timer_stop(&t->worker[n].timer);
	report(t, first, last, form->threads_are_ranks ? &w->part : &t->box);
	for (int n = first; n < last; n++)
		worker_close(&t->worker[n]);
}

/* Everything one rank does; returns the exit code. Where threads are ranks, those of a process have one team. */
static int rank_main(struct team *shared, int ranks)
{
	struct team own, *t = form->threads_are_ranks ? shared : &own;
	int rank, size, slot = omp_get_thread_num();

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check_layout(rank, size, ranks, slot);
	if (!form->threads_are_ranks) {
		ranks = 1;
		slot = 0;
	}
	if (slot == 0) {
		*t = (struct team){ .problem = &problem, .ranks = ranks, .workers = form->threads_are_ranks ? ranks : threads, .parts = { 1, 1, 1 } };
		memcpy(t->processes, cut, sizeof cut);
		if (cut[X] == 0)
			divide(size / ranks, problem.whole[Z] > 1 ? Z : Y, t->processes);
		if (form->parts == PART_EACH)
			divide(t->workers, problem.whole[Z] > 1 ? Y : X, t->parts);
		coordinates(rank / ranks, t->processes, t->process);
	}
#pragma omp barrier
	const char *bad = sizes(t, size / ranks);

	if (bad != NULL) {
		if (rank == 0)
			fprintf(stderr, "rtm: %s\n", bad);
		return 2;
	}
	if (slot == 0)
		team_open(t);
#pragma omp barrier
	run(t, form->threads_are_ranks ? slot : 0, form->threads_are_ranks ? slot + 1 : t->workers);
#pragma omp barrier
	if (slot == 0)
		team_close(t);
	return 0;
}

static void usage(const char *wrong)
{
	fprintf(stderr, "rtm: %s; usage: rtm [-form full|master|tasks|dd|ranks] [-threads N] [-x N] [-y N] [-z N] [-steps N] [-cut XxYxZ]\n", wrong);
	exit(2);
}

static void options(int argc, char **argv)
{
	static const char *const name[] = { "-x", "-y", "-z", "-steps", "-threads" };
	int *const value[] = { &problem.whole[X], &problem.whole[Y], &problem.whole[Z], &problem.steps, &threads };
	enum { NUMBERS = sizeof name / sizeof name[0] };

	for (int a = 1; a < argc; a += 2) {
		const char *given = a + 1 < argc ? argv[a + 1] : "";
		int o = 0, f = 0, end = 0;

		if (strcmp(argv[a], "-form") == 0) {
			while (f < FORMS && strcmp(given, forms[f].name) != 0)
				f++;
			if (f == FORMS)
				usage("-form takes one of five names");
			form = &forms[f];
			continue;
		}
		if (strcmp(argv[a], "-cut") == 0) {
			if (sscanf(given, "%4dx%4dx%4d%n", &cut[X], &cut[Y], &cut[Z], &end) != 3 || given[end] != '\0' || cut[X] < 1 || cut[Y] < 1 || cut[Z] < 1)
				usage("-cut takes three numbers such as 1x2x2");
			continue;
		}
		while (o < NUMBERS && strcmp(argv[a], name[o]) != 0)
			o++;
		if (o == NUMBERS)
			usage("unknown option");
		if (sscanf(given, "%5d%n", value[o], &end) != 1 || given[end] != '\0' || *value[o] < 1 || *value[o] > 10000)
			usage("an option takes a number from 1 to 10000");
	}
	if (form->threads_are_ranks && threads > 1)
		usage("-form ranks has as many threads as the process has ranks: -threads is for the forms with OpenMP");
	if (form->advance == advance_part && threads > 1)
		usage("-form full has one thread: -threads is for the forms with OpenMP");
}

/* How many threads become ranks in this process. */
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
	struct team team;
	int ranks = ranks_here(), code = 0;

	options(argc, argv);
	if (ranks > 1 && form->advance != advance_part)
		usage("this form has its own threads in a rank: run it with one rank in a process (-rpp 1)");
#pragma omp parallel num_threads(ranks) reduction(max : code)
	{
		int level;

		MPI_Init_thread(&argc, &argv, form->level, &level);
		if (level < form->level) {
			fprintf(stderr, "rtm: the MPI library has no thread level that -form %s needs\n", form->name);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		code = rank_main(&team, ranks);
		MPI_Finalize();
	}
	return code;
}
