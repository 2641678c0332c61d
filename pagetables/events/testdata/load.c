/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * load: a program that knows what was done to it. Two threads hand a word to each other by futex,
 * one touches pages: of its data, which are copied on write, and of fresh memory. It waits for a
 * line before, and after it has printed its getrusage(2) figures of that time.
 */

#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 5000, PAGES = 2000, PAGE = 4096 };

static int turn;
static char data[PAGES * PAGE] __attribute__((aligned(PAGE))) = { 1 };

static void *play(void *arg)
{
	int me = arg != NULL;

	for (int i = 0; i < ROUNDS; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void touch(void)
{
	volatile char *fresh = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *own = data;
	int sum = 0;

	madvise((void *)fresh, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		sum += own[i * PAGE]; /* the file's page */
	for (int i = 0; i < PAGES; i++)
		own[i * PAGE] = fresh[i * PAGE] = sum; /* a copy; a new one */
}

int main(void)
{
	struct rusage before, after;
	pthread_t other;

	getchar();
	getrusage(RUSAGE_SELF, &before);
	pthread_create(&other, NULL, play, &turn);
	play(NULL);
	pthread_join(other, NULL);
	touch();
	getrusage(RUSAGE_SELF, &after);
	printf("%d %ld %ld %ld\n", PAGES, after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt,
	       after.ru_nvcsw - before.ru_nvcsw, after.ru_nivcsw - before.ru_nivcsw);
	fflush(stdout);
	getchar();
	getchar();
	return 0;
}
