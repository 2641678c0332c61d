/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* rounds: what libtpslyield does in rounds of progress. This file is also the UCX behind it
 * (-DUCX), which finds what it is told to. */

#ifdef UCX
unsigned ucp_worker_progress(void *worker) { return *(unsigned *)worker; }
#else
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

unsigned ucp_worker_progress(void *worker);

static int yields, sleeps;

int sched_yield(void) { return yields++, 0; }
int nanosleep(const struct timespec *t, struct timespec *left) { return sleeps++, 0; }

static void *rounds(void *found)
{
	for (int i = 0; i < 100; i++)
		ucp_worker_progress(found);
	return NULL;
}

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *rounds_for_long(void *found)
{
	for (long begin = now(); now() - begin < 2000000;)
		ucp_worker_progress(found);
	return NULL;
}

static void in_thread(void *found)
{
	pthread_t thread;
	pthread_create(&thread, NULL, rounds_for_long, found);
	pthread_join(thread, NULL);
}

static void rounds_apart(void *found)
{
	for (int i = 0; i < 100; i++) {
		for (long begin = now(); now() - begin < 5000;)
			;
		ucp_worker_progress(found);
	}
}

static void tell(const char *what)
{
	printf("%s: %s, %s\n", what, yields ? "yields" : "no yield", sleeps ? "sleeps" : "no sleep");
	yields = sleeps = 0;
}

int main(void)
{
	unsigned something = 1, nothing = 0;

	rounds(&something);
	tell("something found");
	for (int i = 0; i < 100; i++)
		ucp_worker_progress(i % 4 ? &nothing : &something);
	tell("something found each fourth time");
	rounds_apart(&nothing);
	tell("nothing found, now and then");
	rounds(&nothing);
	tell("nothing found");
	rounds_for_long(&nothing);
	tell("nothing found for long");
	in_thread(&nothing);
	tell("nothing found by another thread");
	return 0;
}
#endif
