/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * condvar MILLISECONDS: two POSIX threads take turns, each woken by a condition variable
 * of its own, on the first CPU of BENCH_CPUS and on the first two.
 *
 *   BenchmarkWake/by=condvar/cores=N    from the signal of one to the other's running
 */

#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken[2] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static int cpus[2];
static int turn, ended;
static double limit;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *take_turns(void *side)
{
	int me = *(int *)side;
	cpu_set_t set;
	double begin = now(), took = 0;
	long rounds = 0;

	CPU_ZERO(&set);
	CPU_SET(cpus[me], &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0) {
		fprintf(stderr, "condvar: cannot run on CPU %d of BENCH_CPUS\n", cpus[me]);
		exit(1);
	}
	pthread_mutex_lock(&lock);
	while (!ended) {
		while (turn != me)
			pthread_cond_wait(&woken[me], &lock);
		if (me == 0 && ++rounds % 64 == 0)
			ended = (took = now() - begin) >= limit;
		turn = 1 - me;
		pthread_cond_signal(&woken[1 - me]);
	}
	pthread_mutex_unlock(&lock);
	if (me == 0)
		printf("BenchmarkWake/by=condvar/cores=%d %ld %.1f ns\n", cpus[0] == cpus[1] ? 1 : 2, 2 * rounds, took / (2 * rounds) * 1e9);
	return NULL;
}

static void pair(int first, int second)
{
	static int sides[2] = { 0, 1 };
	pthread_t other;

	cpus[0] = first;
	cpus[1] = second;
	turn = ended = 0;
	if (pthread_create(&other, NULL, take_turns, &sides[1]) != 0)
		exit(1);
	take_turns(&sides[0]);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	const char *list = getenv("BENCH_CPUS"), *second = list == NULL ? NULL : strchr(list, ',');

	if (argc != 2 || second == NULL) {
		fprintf(stderr, "usage: BENCH_CPUS=CPU,CPU condvar MILLISECONDS\n");
		return 1;
	}
	limit = atof(argv[1]) / 1e3;
	pair(atoi(list), atoi(list));
	if (atoi(list) != atoi(second + 1))
		pair(atoi(list), atoi(second + 1));
	return 0;
}
