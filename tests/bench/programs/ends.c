/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* ends.c: what ends.h promises. */

#define _GNU_SOURCE
#include "ends.h"
#include "library.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

void wrong(const char *what)
{
	fprintf(stderr, "%s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Compares where the end may run with its entry in BENCH_CPUS, and tells whether CPUs stand there twice. */
static void look_at_cpus(struct end *e)
{
	const char *at = getenv("BENCH_CPUS");
	cpu_set_t may, seen;

	if (at == NULL)
		return;
	CPU_ZERO(&seen);
	sched_getaffinity(0, sizeof may, &may);
	for (int end = 0; end < 2 * e->pairs; end++) {
		char *rest;
		int cpu = strtol(at, &rest, 10);

		if (end == e->side * e->pairs + e->pair && (CPU_COUNT(&may) != 1 || !CPU_ISSET(cpu, &may)))
			wrong("an end is not on its own CPU of BENCH_CPUS");
		e->crowded = e->crowded || CPU_ISSET(cpu, &seen);
		CPU_SET(cpu, &seen);
		at = rest + (*rest == ',');
	}
}

void tell_library(void)
{
	int me;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (me == 0)
		print_library();
}

static void run_rank(struct end e, void (*run)(const struct end *))
{
	int me, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(e.mode, "leaf") == 0) {
		e.pairs = ranks - 1;
		e.side = 1;
		e.pair = e.tag = me - 1;
	} else {
		if (ranks % 2 != 0)
			wrong("needs an even number of ranks");
		e.pairs = ranks / 2;
		e.side = me / e.pairs;
		e.pair = me % e.pairs;
		e.peer = (me + e.pairs) % ranks;
	}
	look_at_cpus(&e);
	run(&e);
}

static void run_threads(struct end all, void (*run)(const struct end *))
{
	MPI_Comm comms[MOST_ENDS];
	int ranks;

	all.pairs = omp_get_max_threads();
	MPI_Comm_rank(MPI_COMM_WORLD, &all.side);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	const bool fan = strcmp(all.mode, "fan") == 0;
	if (ranks != (fan ? 1 + all.pairs : 2) || all.pairs > MOST_ENDS)
		wrong("needs two ranks of at most 256 threads each, or as a fan one and a leaf for each of its threads");
	all.peer = 1 - all.side;
	for (int p = 0; p < all.pairs; p++)
		if (strcmp(all.mode, "comms") == 0)
			MPI_Comm_dup(MPI_COMM_WORLD, &comms[p]);
#pragma omp parallel
	{
		struct end e = all;

		e.pair = omp_get_thread_num();
		if (strcmp(e.mode, "comms") == 0)
			e.comm = comms[e.pair];
		else
			e.tag = e.pair;
		if (fan)
			e.peer = 1 + e.pair;
		look_at_cpus(&e);
		run(&e);
	}
	for (int p = 0; p < all.pairs; p++)
		if (strcmp(all.mode, "comms") == 0)
			MPI_Comm_free(&comms[p]);
}

static bool is_one_of(const char *word, const char *list)
{
	const char *at = strstr(list, word);

	return at != NULL && word[0] != 0 && at[strlen(word)] == ' ';
}

/* Sizes are 0 or whole words. */
static bool read_sizes(struct end *e, const char *list)
{
	char *rest;

	do {
		e->sizes[e->nsizes] = strtoul(list, &rest, 10);
		if (rest == list || e->sizes[e->nsizes] > LARGEST || e->sizes[e->nsizes] % sizeof(uint64_t) != 0)
			return false;
		list = rest + 1;
	} while (++e->nsizes < MOST_SIZES && *rest == ',');
	return *rest == 0;
}

/*
 * MPICH 4.0.2 may hang in MPI_Finalize when ranks of two hosts have talked. So rank 0 ends the job there once all
 * are through, and the others wait for that: who leaves earlier ends it himself.
 */
static void finalize(const struct end *e)
{
	int me;

	if (is_one_of(e->between, "threads processes ")) {
		MPI_Finalize();
		return;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (me == 0) {
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 0);
	}
	for (;;)
		pause();
}

int run_ends(int argc, char **argv, void (*run)(const struct end *))
{
	struct end e = { .comm = MPI_COMM_WORLD };

	if (argc != 5 || !is_one_of(argv[1], "flat async private tpsl memory neighbours noted counted tags comms fan leaf ") || !read_sizes(&e, argv[4])) {
		fprintf(stderr, "usage: %s flat|async|private|tpsl|memory|neighbours|noted|counted|tags|comms|fan|leaf BETWEEN MILLISECONDS SIZE,SIZE...\n", argv[0]);
		return 2;
	}
	e.mode = argv[1];
	e.between = argv[2];
	e.seconds = atof(argv[3]) / 1e3;
	e.start = e.seconds > 0 ? 0.25 : 0;
	e.threaded = is_one_of(e.mode, "tags comms fan ");
	if (e.threaded) {
		int provided;

		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
		if (provided != MPI_THREAD_MULTIPLE)
			wrong("no MPI_THREAD_MULTIPLE");
		tell_library();
		run_threads(e, run);
		finalize(&e);
		return 0;
	}
	if (strcmp(e.mode, "leaf") == 0) {
		MPI_Init(&argc, &argv);
		tell_library();
		run_rank(e, run);
		finalize(&e);
		return 0;
	}
#pragma omp parallel
	{
		MPI_Init(&argc, &argv);
		tell_library();
		run_rank(e, run);
		finalize(&e);
	}
	return 0;
}

void wait_all(const struct end *e, int count, MPI_Request req[])
{
	int done = 0;

	if (!e->crowded)
		MPI_Waitall(count, req, MPI_STATUSES_IGNORE);
	else
		while (MPI_Testall(count, req, &done, MPI_STATUSES_IGNORE), !done)
			sched_yield();
}

void send_to_peer(const struct end *e, const void *message, size_t size)
{
	MPI_Request req;

	if (e->crowded) {
		MPI_Isend(message, size, MPI_BYTE, e->peer, e->tag, e->comm, &req);
		wait_all(e, 1, &req);
	} else {
		MPI_Send(message, size, MPI_BYTE, e->peer, e->tag, e->comm);
	}
}

void receive_from_peer(const struct end *e, void *message, size_t size)
{
	MPI_Request req;

	if (e->crowded) {
		MPI_Irecv(message, size, MPI_BYTE, e->peer, e->tag, e->comm, &req);
		wait_all(e, 1, &req);
	} else {
		MPI_Recv(message, size, MPI_BYTE, e->peer, e->tag, e->comm, MPI_STATUS_IGNORE);
	}
}

double over_ends(const struct end *e, double value, MPI_Op op)
{
	static double of[MOST_ENDS], all; /* the threads of a rank meet here */

	if (!e->threaded) {
		MPI_Request req;
		double result;

		MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &req);
		wait_all(e, 1, &req);
		return result;
	}
	of[e->pair] = value;
#pragma omp barrier
	if (e->pair == 0) {
		double mine = of[0];
		MPI_Request req;

		for (int p = 1; p < e->pairs; p++)
			mine = op == MPI_MAX ? (of[p] > mine ? of[p] : mine) : mine + of[p];
		MPI_Iallreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &req);
		wait_all(e, 1, &req);
	}
#pragma omp barrier
	return all;
}

/* Does rounds in batches that grow until `seconds` have passed; returns how many this were. *mine becomes this end's time. */
static long batches(const struct end *e, rounds *f, void *what, long first, long least, double seconds, double *mine)
{
	double longest = 0;
	long done = 0;

	*mine = 0;
	for (long batch = least; done == 0 || longest < seconds; batch *= 2) {
		double begin, took;

		over_ends(e, 0, MPI_MAX);
		begin = now();
		f(e, what, first + done, batch);
		took = now() - begin;
		*mine += took;
		longest += over_ends(e, took, MPI_MAX);
		done += batch;
	}
	return done;
}

double measure(const struct end *e, rounds *f, void *what, long least, long *count)
{
	static __thread bool started;
	double mine;
	long done = batches(e, f, what, 0, least, started ? 0 : e->start, &mine);

	started = true;
	*count = batches(e, f, what, done, least, e->seconds, &mine);
	return mine / *count;
}

static uint64_t *last(const void *message, size_t size)
{
	return (uint64_t *)message + size / sizeof(uint64_t) - 1;
}

void stamp(void *message, size_t size, uint64_t value)
{
	if (size >= sizeof value)
		*(uint64_t *)message = *last(message, size) = value;
}

void check_stamp(const void *message, size_t size, uint64_t value)
{
	if (size >= sizeof value && (*(uint64_t *)message != value || *last(message, size) != value))
		wrong("a message with the wrong stamp");
}

static uint64_t word(size_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15u;
}

void fill(void *message, size_t size)
{
	uint64_t *at = message;

	for (size_t i = 1; i + 1 < size / sizeof *at; i++)
		at[i] = word(i);
}

void check_filled(const void *message, size_t size)
{
	const uint64_t *at = message;

	for (size_t i = 1; i + 1 < size / sizeof *at; i++)
		if (at[i] != word(i))
			wrong("a message with the wrong content");
}

void *allocate(size_t size)
{
	void *memory = aligned_alloc(4096, size);

	if (memory == NULL)
		wrong("out of memory");
	return memset(memory, 0, size);
}

void use_cpu(long loops)
{
	for (volatile long i = 0; i < loops; i++)
		;
}

void use_cpu_for(double seconds)
{
	for (double end = now() + seconds; now() < end;)
		use_cpu(1000);
}
