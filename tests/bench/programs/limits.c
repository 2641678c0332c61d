/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * limits MILLISECONDS SIZE,SIZE...: what the machine allows, on the first two CPUs of BENCH_CPUS.
 *
 *   BenchmarkMemcpy    one thread copies messages as they go in stream.c: from one buffer
 *                      to the parts of another of 4 MiB, in turns
 *   BenchmarkHandOver  a cache line goes from core to core: half the time there
 *                      and back, of the fastest batch
 */

#define _GNU_SOURCE

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGEST = 4 << 20, MOST_PARTS = 64, PASSES = 1000, BATCHES = 20 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
	fprintf(stderr, "limits: %s\n", what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		fail("cannot run on a CPU of BENCH_CPUS");
}

static void copy(char *out, char *in, size_t size, double seconds)
{
	size_t parts = LARGEST / size < MOST_PARTS ? LARGEST / size : MOST_PARTS;
	double begin, took;
	long count = 0;

	memset(out, 1, size);
	memset(in, 0, parts * size);
	begin = now();
	do
		for (int m = 0; m < MOST_PARTS; m++, count++) {
			out[size - 1] = m;
			memcpy(in + count % parts * size, out, size);
		}
	while ((took = now() - begin) < seconds);
	for (size_t p = 0; p < parts; p++)
		if (memcmp(in + p * size, out, size - 1) != 0)
			fail("wrong copy");
	printf("BenchmarkMemcpy/size=%zu %ld %.4f GB/s\n", size, count, count * size / took / 1e9);
}

static void hand_over(int me)
{
	static _Alignas(128) atomic_int ball;
	double least = 1;

	for (int n = 0, batch = 0; batch < BATCHES; batch++) {
		double begin = now(), took;

		for (int last = n + PASSES; n < last; n++) {
			while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * n + me)
				;
			atomic_store_explicit(&ball, 2 * n + me + 1, memory_order_release);
		}
		took = now() - begin;
		least = took < least ? took : least;
	}
	if (me == 0)
		printf("BenchmarkHandOver %d %.3f ns\n", PASSES, least / PASSES / 2 * 1e9);
}

int main(int argc, char **argv)
{
	const char *cpus = getenv("BENCH_CPUS"), *second = cpus == NULL ? NULL : strchr(cpus, ',');
	char *out = aligned_alloc(4096, LARGEST), *in = aligned_alloc(4096, LARGEST);

	if (argc != 3 || second == NULL || out == NULL || in == NULL)
		fail("usage: BENCH_CPUS=CPU,CPU limits MILLISECONDS SIZE,SIZE...");
#pragma omp parallel num_threads(2)
	{
		pin(atoi(omp_get_thread_num() == 0 ? cpus : second + 1));
#pragma omp barrier
		if (atoi(cpus) != atoi(second + 1))
			hand_over(omp_get_thread_num());
		if (omp_get_thread_num() == 1)
			for (const char *at = argv[2]; at != NULL; at = strchr(at, ','), at += at != NULL)
				if (atol(at) > 0 && atol(at) <= LARGEST)
					copy(out, in, atol(at), atof(argv[1]) / 1e3);
	}
	free(out);
	free(in);
	return 0;
}
