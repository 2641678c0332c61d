/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* rounds: what libtpslyield does in rounds of progress. This file is also the UCX behind it
 * (-DUCX), which finds what it is told to. The clock is the program's own and goes on by a
 * little at each look, so that no round takes long because the machine is busy. */

unsigned ucp_worker_progress(void *worker);

#ifdef UCX
unsigned ucp_worker_progress(void *worker) { return *(unsigned *)worker; }
int PMPI_Iprobe(int source, int tag, int comm, int *flag, void *worker) { return *flag = (int)ucp_worker_progress(worker), source + tag + comm; }
int MPI_Iprobe(int source, int tag, int comm, int *flag, void *worker) { return PMPI_Iprobe(source, tag, comm, flag, worker); }
#else
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int MPI_Iprobe(int source, int tag, int comm, int *flag, void *worker);

static int yields, sleeps;
static long longest; /* sleep, ns */

static long passed; /* ns; one thread looks at a time */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	passed += 100;
	return *t = (struct timespec){ .tv_sec = 1 + passed / 1000000000, .tv_nsec = passed % 1000000000 }, 0;
}

static int yields_after_sleeps; /* so many yields did not come before the first sleep */

int sched_yield(void) { return yields++, yields_after_sleeps += sleeps > 0, 0; }

int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (longest < t->tv_nsec)
		longest = t->tv_nsec;
	passed += t->tv_nsec;
	return sleeps++, 0;
}

static void *rounds(void *found)
{
	for (int i = 0; i < 100; i++)
		ucp_worker_progress(found);
	return NULL;
}

static void *rounds_for_long(void *found)
{
	for (long begin = passed; passed - begin < 2000000;)
		ucp_worker_progress(found);
	return NULL;
}

static void forget(void) { yields = sleeps = yields_after_sleeps = 0; }

static void one_round(void *found) { ucp_worker_progress(found); }

static void one_look(void *found)
{
	int flag;
	if (MPI_Iprobe(1, 2, 3, &flag, found) != 6)
		puts("another result");
}

static void tell_longest_sleep(const char *what, void (*once)(void *), void *found)
{
	longest = 0;
	for (long begin = passed; passed - begin < 2000000000;)
		once(found);
	printf("%s: no sleep longer than %ld us\n", what, longest / 1000);
	forget();
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
		passed += 5000;
		ucp_worker_progress(found);
	}
}


static void slow_rounds(void *found)
{
	for (long begin = passed; passed - begin < 2000000;) {
		int before = sleeps;
		ucp_worker_progress(found);
		passed += sleeps > before ? 5000 : 0;
	}
}

static void tell(const char *what)
{
	printf("%s: %s, %s\n", what, yields ? "yields" : "no yield", sleeps ? "sleeps" : "no sleep");
	forget();
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
	rounds_apart(&nothing);
	printf("nothing found, now and then after that: %d sleeps\n", sleeps);
	forget();
	slow_rounds(&nothing);
	printf("nothing found for long, slow rounds after sleeps: %s\n", yields_after_sleeps <= sleeps ? "one wait" : "many waits");
	forget();
	tell_longest_sleep("a wait of 2 s", one_round, &nothing);
	one_round(&something);
	tell_longest_sleep("looks for 2 s", one_look, &nothing);
	one_round(&something);
	tell_longest_sleep("a wait of 2 s after that", one_round, &nothing);
	in_thread(&nothing);
	tell("nothing found by another thread");
	return 0;
}
#endif
