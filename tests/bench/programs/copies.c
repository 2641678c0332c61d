/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* copies WAY NAME FILE: eight copies of a library that is not made for threads, at work in
 * as many threads or processes. Prints how long a copy takes to come up after the first,
 * the memory that each has to itself after its work, and the time for the work of 1, 2, 4
 * and 8 at once, by the clock and of CPUs. WAY is tpsl (built by tpslcc), dlmopen or processes; limit-tpsl and
 * limit-dlmopen tell how many copies one process can have, of at most 64.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef TPSL
#include <tpsl.h>
#endif

enum { COPIES = 8, MOST = 64 };

typedef long work_function(long seed);

static void die(const char *what)
{
	fprintf(stderr, "copies: %s\n", what);
	exit(1);
}

static double milliseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static double now(void)
{
	return milliseconds(CLOCK_MONOTONIC);
}

static void tell_work(const char *name, const char *way, int n, double took, double cpu)
{
	printf("BenchmarkWork/lib=%s/way=%s/n=%d 1 %.3f ms/all\n", name, way, n, took);
	printf("BenchmarkCPU/lib=%s/way=%s/n=%d 1 %.3f ms/all\n", name, way, n, cpu);
}

/* KiB that this process has written: what no other one shares. */
static long dirty(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			break;
	if (kib < 0)
		die("/proc/self/smaps_rollup has no Private_Dirty");
	fclose(f);
	return kib;
}

/* ---- copies in one process ---- */

static work_function *copy(const char *way, const char *file)
{
	void *library = NULL;

	if (strstr(way, "dlmopen")) {
		library = dlmopen(LM_ID_NEWLM, file, RTLD_NOW);
		return library ? (work_function *)dlsym(library, "work") : NULL;
	}
#ifdef TPSL
	library = TPSL_Dlopen(file);
	return library ? (work_function *)TPSL_Dlsym(library, "work") : NULL;
#endif
	return NULL;
}

struct job {
	work_function *work;
	long seed, result;
};

static pthread_barrier_t gate;

static void *thread(void *argument)
{
	struct job *j = argument;

	pthread_barrier_wait(&gate);
	j->result = j->work(j->seed);
	return NULL;
}

static double threads(struct job *jobs, int n)
{
	pthread_t t[COPIES];
	double begin;

	pthread_barrier_init(&gate, NULL, n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread, &jobs[i]) != 0)
			die("no thread");
	begin = now();
	pthread_barrier_wait(&gate);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return now() - begin;
}

static void in_threads(const char *way, const char *name, const char *file)
{
	struct job jobs[COPIES];
	double begin = 0;
	long before = 0;

	for (int i = 0; i < COPIES; i++) {
		if (i == 1) { /* the first one's work makes what all have together */
			threads(jobs, 1);
			before = dirty();
			begin = now();
		}
		jobs[i] = (struct job){copy(way, file), i, 0};
		if (!jobs[i].work)
			die("no copy");
	}
	printf("BenchmarkCreate/lib=%s/way=%s 1 %.3f ms/copy\n", name, way, (now() - begin) / (COPIES - 1));
	threads(jobs, COPIES); /* memory is touched for the first time */
	for (int n = 1; n <= COPIES; n *= 2) {
		double cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), took = threads(jobs, n);

		tell_work(name, way, n, took, milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	}
	printf("BenchmarkMemory/lib=%s/way=%s 1 %.0f KiB/copy\n", name, way, (double)(dirty() - before) / (COPIES - 1));
	for (int i = 0; i < COPIES; i++)
		if (jobs[i].work(i) != jobs[i].result)
			die("a wrong answer");
}

static void limit(const char *way, const char *name, const char *file)
{
	int n = 0;

	while (n < MOST && copy(way, file))
		n++;
	printf("BenchmarkLimit/lib=%s/way=%s 1 %d copies\n", name, strchr(way, '-') + 1, n);
}

/* ---- processes ---- */

struct child {
	pid_t pid;
	FILE *in, *out; /* to it, from it */
};

/* What a child does: says that it is up, then its work for each line that it reads. */
static void child(const char *file, long seed)
{
	void *library = dlopen(file, RTLD_NOW);
	work_function *work = library ? (work_function *)dlsym(library, "work") : NULL;
	char line[32];

	if (!work)
		die("no library");
	for (puts("up"), fflush(stdout); fgets(line, sizeof line, stdin); fflush(stdout)) {
		double begin = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
		long result = work(seed);

		printf("%ld %.3f %ld\n", result, milliseconds(CLOCK_PROCESS_CPUTIME_ID) - begin, dirty());
	}
}

extern char **environ;

static struct child start(const char *file, int seed)
{
	struct child c;
	int to[2], from[2];
	char number[16], line[32];
	char *argv[] = {"copies", "child", number, (char *)file, NULL};
	posix_spawn_file_actions_t actions;

	snprintf(number, sizeof number, "%d", seed);
	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
		die("no pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], 0);
	posix_spawn_file_actions_adddup2(&actions, from[1], 1);
	if (posix_spawn(&c.pid, "/proc/self/exe", &actions, NULL, argv, environ) != 0)
		die("no process");
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	c.in = fdopen(to[1], "w");
	c.out = fdopen(from[0], "r");
	if (!fgets(line, sizeof line, c.out) || strcmp(line, "up\n") != 0)
		die("a child did not come up");
	return c;
}

static void go(const struct child *c)
{
	fputs("go\n", c->in);
	fflush(c->in);
}

static long answer(const struct child *c, double *cpu, long *kib)
{
	long result;

	if (fscanf(c->out, "%ld %lf %ld", &result, cpu, kib) != 3)
		die("a child did not answer");
	return result;
}

static void in_processes(const char *name, const char *file)
{
	struct child all[COPIES];
	long results[COPIES], kib = 0, sum = 0;
	double begin = 0, cpu;

	for (int i = 0; i < COPIES; i++) {
		if (i == 1)
			begin = now();
		all[i] = start(file, i);
	}
	printf("BenchmarkCreate/lib=%s/way=processes 1 %.3f ms/copy\n", name, (now() - begin) / (COPIES - 1));
	for (int i = 0; i < COPIES; i++)
		go(&all[i]);
	for (int i = 0; i < COPIES; i++)
		answer(&all[i], &cpu, &kib); /* memory is touched for the first time */
	for (int n = 1; n <= COPIES; n *= 2) {
		double used = 0;

		begin = now();
		for (int i = 0; i < n; i++)
			go(&all[i]);
		for (int i = 0; i < n; i++, used += cpu)
			results[i] = answer(&all[i], &cpu, &kib);
		tell_work(name, "processes", n, now() - begin, used);
	}
	for (int i = 0; i < COPIES; i++) {
		go(&all[i]);
		if (answer(&all[i], &cpu, &kib) != results[i])
			die("a wrong answer");
		sum += kib;
		fclose(all[i].in);
		waitpid(all[i].pid, NULL, 0);
		fclose(all[i].out);
	}
	printf("BenchmarkMemory/lib=%s/way=processes 1 %.0f KiB/copy\n", name, (double)sum / COPIES);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		die("want WAY NAME FILE");
	if (strcmp(argv[1], "child") == 0)
		child(argv[3], atol(argv[2]));
	else if (strcmp(argv[1], "processes") == 0)
		in_processes(argv[2], argv[3]);
	else if (strncmp(argv[1], "limit-", 6) == 0)
		limit(argv[1], argv[2], argv[3]);
	else
		in_threads(argv[1], argv[2], argv[3]);
	return 0;
}
