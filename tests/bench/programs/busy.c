/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * busy: how long a rank needs for what it does with a rank that computes for 20 ms, and how long the other computes while this one
 * waits for it. One pair; arguments: see ends.h. A size is that of a message, or of a rank's part of a sum.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double computing = 0.02; /* seconds */
enum { LOOPS = 40000000 };            /* the same work in every mode */

struct busy {
	const char *op;
	size_t size;
	char *data, *result;
	MPI_Win win;
};

static void together(const struct end *e)
{
	MPI_Sendrecv(NULL, 0, MPI_BYTE, e->peer, 1, NULL, 0, MPI_BYTE, e->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void one_sided(const struct end *e, struct busy *b)
{
	int64_t one = 1, before;
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, e->peer, 0, b->win);
	if (!strcmp(b->op, "put"))
		MPI_Put(b->data, (int)b->size, MPI_BYTE, e->peer, 0, (int)b->size, MPI_BYTE, b->win);
	else
		MPI_Fetch_and_op(&one, &before, MPI_INT64_T, e->peer, 0, MPI_SUM, b->win);
	MPI_Win_unlock(e->peer, b->win);
}

/* The seconds that it took side 0. Side 1 takes part, computes, and ends it. */
static double once(const struct end *e, struct busy *b, long n)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int words = (int)(b->size / sizeof(int64_t));

	stamp(b->data, b->size, (uint64_t)n);
	if (!strcmp(b->op, "send") && e->side)
		MPI_Irecv(b->result, (int)b->size, MPI_BYTE, e->peer, 0, MPI_COMM_WORLD, &request);
	together(e);
	double begin = now();
	if (!strcmp(b->op, "sum"))
		MPI_Iallreduce(b->data, b->result, words, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
	if (e->side)
		use_cpu_for(computing);
	else if (!strcmp(b->op, "send"))
		MPI_Send(b->data, (int)b->size, MPI_BYTE, e->peer, 0, MPI_COMM_WORLD);
	else if (strcmp(b->op, "sum"))
		one_sided(e, b);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	double took = now() - begin;
	if (!strcmp(b->op, "send") && e->side)
		check_stamp(b->result, b->size, (uint64_t)n);
	return took;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, long n)
{
	qsort(values, (size_t)n, sizeof *values, compare);
	return values[n / 2];
}

static void tell(const struct end *e, const char *op, size_t size, long n, double seconds)
{
	printf("BenchmarkBusy/mode=%s/op=%s/size=%zu %ld %.4f us/call\n", e->mode, op, size, n, seconds * 1e6);
}

static long rounds_of(const struct end *e)
{
	return e->seconds > 0 ? 11 : 3;
}

static void time_op(const struct end *e, struct busy *b, const char *op, size_t size)
{
	long n = rounds_of(e);
	double *times = allocate((size_t)n * sizeof *times);
	b->op = op;
	b->size = size;
	once(e, b, 0);
	for (long i = 0; i < n; i++)
		times[i] = once(e, b, i + 1);
	if (e->side == 0)
		tell(e, op, size, n, median(times, n));
	free(times);
}

/* Side 0 waits for a message while side 1 computes, for as long as it takes. */
static void time_computing(const struct end *e)
{
	long n = rounds_of(e);
	double *times = allocate((size_t)n * sizeof *times);
	for (long i = 0; i < n; i++) {
		together(e);
		double begin = now();
		if (e->side == 0) {
			MPI_Recv(NULL, 0, MPI_BYTE, e->peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		use_cpu(LOOPS);
		times[i] = now() - begin;
		MPI_Send(NULL, 0, MPI_BYTE, e->peer, 0, MPI_COMM_WORLD);
	}
	if (e->side)
		tell(e, "compute", 0, n, median(times, n));
	free(times);
}

/* A call that does nothing but look into the library's data. */
static void time_call(const struct end *e)
{
	enum { CALLS = 1000000, TIMES = 11 };
	double times[TIMES];
	int rank;
	MPI_Group group;
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	for (int k = 0; k < TIMES; k++) {
		double begin = now();
		for (int i = 0; i < CALLS; i++)
			MPI_Group_rank(group, &rank);
		times[k] = (now() - begin) / CALLS;
	}
	MPI_Group_free(&group);
	if (e->side == 0)
		tell(e, "call", 0, (long)CALLS * TIMES, median(times, TIMES));
}

static void run(const struct end *e)
{
	struct busy b = {0};

	if (e->pairs != 1)
		wrong("busy: needs one pair");
	b.data = allocate(LARGEST);
	b.result = allocate(LARGEST);
	MPI_Win_create(b.result, LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &b.win);
	time_op(e, &b, "put", sizeof(int64_t));
	time_op(e, &b, "fetch", sizeof(int64_t));
	MPI_Win_free(&b.win);
	for (int s = 0; s < e->nsizes; s++) {
		time_op(e, &b, "send", e->sizes[s]);
		time_op(e, &b, "sum", e->sizes[s]);
	}
	time_computing(e);
	time_call(e);
	free(b.data);
	free(b.result);
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
