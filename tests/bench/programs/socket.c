/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * socket RANK ADDRESS PORT NAME MILLISECONDS SIZE,SIZE...: what a TCP connection between two
 * processes allows, without an engine. Rank 1 listens at the address. NAME is that of the
 * benchmarks, but for its first word. If it has "waits=polling", receivers poll.
 *
 *   BenchmarkLatency    half a round trip
 *   BenchmarkRate       messages of a size, each by a system call, in windows that are answered
 *   BenchmarkBandwidth  the same in bytes
 *
 * Rank 0 orders each batch: which, the size, how many rounds. Each message has the number of
 * its round at both ends.
 */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 4 << 20, BATCHES = 5, WARM = 3, VOLLEY = 1, FLOW = 2, END = 3 };

struct order {
	uint64_t what, size, rounds;
};

static char *buffer;
static int flags; /* of receivers */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
	fprintf(stderr, "socket: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(int s, const void *data, size_t size)
{
	for (const char *at = data; size > 0;) {
		ssize_t n = send(s, at, size, MSG_NOSIGNAL);

		if (n < 0)
			fail("send");
		at += n;
		size -= (size_t)n;
	}
}

static void get(int s, void *data, size_t size)
{
	for (char *at = data; size > 0;) {
		ssize_t n = recv(s, at, size, flags);

		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			fail("receive");
		at += n;
		size -= (size_t)n;
	}
}

static void stamp(size_t size, uint64_t round)
{
	memcpy(buffer + size - 8, &round, 8);
	memcpy(buffer, &round, 8);
}

static void check(size_t size, uint64_t round)
{
	if (memcmp(buffer, &round, 8) != 0 || memcmp(buffer + size - 8, &round, 8) != 0) {
		fprintf(stderr, "socket: a wrong message\n");
		exit(1);
	}
}

static uint64_t messages_of(size_t size) { return size > 65536 ? 16 : 64; }

/* play does its side of a batch and returns how long the rounds took. */
static double play(int s, int rank, struct order o)
{
	double begin = 0;
	char answer = 0;

	for (uint64_t round = 0; round < WARM + o.rounds; round++) {
		uint64_t count = o.what == VOLLEY ? 1 : messages_of(o.size);

		if (round == WARM)
			begin = now();
		for (uint64_t i = 0; i < count; i++) {
			if (rank == 0) {
				stamp(o.size, round);
				put(s, buffer, o.size);
			} else {
				get(s, buffer, o.size);
				check(o.size, round);
			}
		}
		if (o.what == VOLLEY && rank == 1)
			put(s, buffer, o.size);
		else if (o.what == VOLLEY)
			get(s, buffer, o.size);
		else if (rank == 1)
			put(s, &answer, 1);
		else
			get(s, &answer, 1);
		if (o.what == VOLLEY)
			check(o.size, round);
	}
	return now() - begin;
}

static double lead(int s, struct order o)
{
	put(s, &o, sizeof o);
	return play(s, 0, o);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* repeat finds how many rounds take their time, and returns the median of some batches. */
static double repeat(int s, struct order *o, double seconds)
{
	double times[BATCHES];

	for (o->rounds = 1; lead(s, *o) < seconds / BATCHES;)
		o->rounds *= 2;
	for (int i = 0; i < BATCHES; i++)
		times[i] = lead(s, *o);
	qsort(times, BATCHES, sizeof times[0], ascending);
	return times[BATCHES / 2];
}

static void print(const char *name, const char *kind, uint64_t rounds, double value, const char *unit, size_t size)
{
	const char *rest = strchr(name, '/');

	printf("Benchmark%s%s/size=%zu %lu %.5g %s\n", kind, rest, size, (unsigned long)rounds, value, unit);
	fflush(stdout);
}

static void measure(int s, const char *name, double seconds, size_t size)
{
	struct order o = {.what = VOLLEY, .size = size};
	double took = repeat(s, &o, seconds);

	print(name, "Latency", 2 * o.rounds, took / (double)o.rounds / 2 * 1e6, "us/msg", size);
	o.what = FLOW;
	took = repeat(s, &o, seconds);
	uint64_t count = o.rounds * messages_of(size);
	print(name, "Rate", count, (double)count / took / 1e6, "Mmsg/s", size);
	print(name, "Bandwidth", count, (double)count * (double)size / took / 1e9, "GB/s", size);
}

/* joined returns the connection. */
static int joined(int rank, const char *address, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int one = 1, s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || inet_pton(AF_INET, address, &a.sin_addr) != 1)
		fail("make a socket");
	if (rank == 1) {
		int l = s;

		if (setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 || bind(l, (struct sockaddr *)&a, sizeof a) != 0 || listen(l, 1) != 0)
			fail("listen");
		if ((s = accept(l, NULL, NULL)) < 0)
			fail("accept");
		close(l);
	} else {
		while (connect(s, (struct sockaddr *)&a, sizeof a) != 0) { /* until it listens */
			if (errno != ECONNREFUSED)
				fail("connect");
			close(s);
			usleep(1000);
			s = socket(AF_INET, SOCK_STREAM, 0);
		}
	}
	if (setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
		fail("TCP_NODELAY");
	return s;
}

int main(int argc, char **argv)
{
	if (argc != 7) {
		fprintf(stderr, "usage: socket RANK ADDRESS PORT NAME MILLISECONDS SIZE,SIZE...\n");
		return 2;
	}
	int rank = atoi(argv[1]), cpus[2] = {0, 0};
	const char *list = getenv("BENCH_CPUS");

	if (list != NULL && sscanf(list, "%d,%d", &cpus[0], &cpus[1]) == 2) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpus[rank], &set);
		if (sched_setaffinity(0, sizeof set, &set) != 0)
			fail("run on a CPU of BENCH_CPUS");
	}
	flags = strstr(argv[4], "waits=polling") != NULL ? MSG_DONTWAIT : 0;
	if ((buffer = malloc(LARGEST)) == NULL)
		fail("malloc");
	memset(buffer, 0, LARGEST);
	int s = joined(rank, argv[2], atoi(argv[3]));

	if (rank == 0) {
		for (char *size = strtok(argv[6], ","); size != NULL; size = strtok(NULL, ","))
			measure(s, argv[4], atof(argv[5]) / 1e3, (size_t)atol(size));
		put(s, &(struct order){.what = END}, sizeof(struct order));
		return 0;
	}
	for (;;) {
		struct order o;

		get(s, &o, sizeof o);
		if (o.what == END)
			return 0;
		if (o.size > LARGEST || o.size < 8)
			fail("a wrong order");
		play(s, 1, o);
	}
}
