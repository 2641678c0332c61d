/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * keysort: all ranks rank integer keys by buckets, as the benchmark IS of NAS does: they count their keys, agree by MPI_Allreduce
 * which rank gets which buckets, and give the keys to it by MPI_Alltoall and MPI_Alltoallv. Arguments: see ends.h; a size is the
 * number of a rank's keys. The time of a round is that of the slowest rank, and the time in MPI is the mean of all ranks.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BITS = 19, BUCKET_BITS = 10, KEYS = 1 << KEY_BITS, BUCKETS = 1 << BUCKET_BITS, SHIFT = KEY_BITS - BUCKET_BITS, MOST_RANKS = 2 * MOST_ENDS };

struct sort {
	int me, ranks, n;
	uint32_t *keys, *bucketed, *received;
	int mine[BUCKETS], all[BUCKETS];            /* keys in each bucket */
	int first[MOST_RANKS + 1];                  /* bucket of each rank */
	int out[MOST_RANKS], out_at[MOST_RANKS];    /* keys for each rank, and where they begin */
	int in[MOST_RANKS], in_at[MOST_RANKS];      /* the same of what each rank gives */
	int nreceived;
	int *ranks_of; /* how many received keys are not greater than a key */
	double in_mpi; /* seconds of the last batch */
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

/* Sums of four even distributions, so that the middle keys are frequent. */
static void make_keys(struct sort *s)
{
	for (int i = 0; i < s->n; i++) {
		uint64_t r = mix((uint64_t)s->me << 32 | (uint32_t)(i + 1)), part = KEYS / 4;
		s->keys[i] = (uint32_t)(r % part + (r >> 16) % part + (r >> 32) % part + (r >> 47) % part);
	}
}

/* No two rounds are alike. */
static void change_keys(struct sort *s, long round)
{
	s->keys[round % s->n] = (uint32_t)(round % KEYS);
	s->keys[(round + s->n / 2) % s->n] = (uint32_t)(KEYS - 1 - round % KEYS);
}

static void put_in_buckets(struct sort *s)
{
	int at[BUCKETS], sum = 0;

	memset(s->mine, 0, sizeof s->mine);
	for (int i = 0; i < s->n; i++)
		s->mine[s->keys[i] >> SHIFT]++;
	for (int b = 0; b < BUCKETS; b++) {
		at[b] = sum;
		sum += s->mine[b];
	}
	for (int i = 0; i < s->n; i++)
		s->bucketed[at[s->keys[i] >> SHIFT]++] = s->keys[i];
}

/* Gives each rank buckets with about the same number of keys. */
static void divide(struct sort *s)
{
	long keys = 0, share = s->n;
	int rank = 0;

	memset(s->out, 0, sizeof s->out);
	s->first[0] = 0;
	for (int b = 0; b < BUCKETS; b++) {
		if (keys >= share * (rank + 1) && rank + 1 < s->ranks)
			s->first[++rank] = b;
		keys += s->all[b];
		s->out[rank] += s->mine[b];
	}
	while (rank < s->ranks)
		s->first[++rank] = BUCKETS;
}

static int begin_at(int at[], const int counts[], int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		at[i] = sum;
		sum += counts[i];
	}
	return sum;
}

static void agree(struct sort *s)
{
	double begin = now();

	MPI_Allreduce(s->mine, s->all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	s->in_mpi += now() - begin;
}

static void give_keys(struct sort *s)
{
	double begin = now();

	MPI_Alltoall(s->out, 1, MPI_INT, s->in, 1, MPI_INT, MPI_COMM_WORLD);
	begin_at(s->out_at, s->out, s->ranks);
	s->nreceived = begin_at(s->in_at, s->in, s->ranks);
	MPI_Alltoallv(s->bucketed, s->out, s->out_at, MPI_UINT32_T, s->received, s->in, s->in_at, MPI_UINT32_T, MPI_COMM_WORLD);
	s->in_mpi += now() - begin;
}

static void rank_keys(struct sort *s)
{
	uint32_t low = (uint32_t)s->first[s->me] << SHIFT, end = (uint32_t)s->first[s->me + 1] << SHIFT;

	memset(s->ranks_of, 0, KEYS * sizeof *s->ranks_of);
	for (int i = 0; i < s->nreceived; i++) {
		if (s->received[i] < low || s->received[i] >= end)
			wrong("keysort: a key of another rank");
		s->ranks_of[s->received[i]]++;
	}
	for (uint32_t k = low + 1; k < end; k++)
		s->ranks_of[k] += s->ranks_of[k - 1];
}

static void sort_rounds(const struct end *e, void *what, long first, long count)
{
	struct sort *s = what;

	(void)e;
	s->in_mpi = 0;
	for (long n = first; n < first + count; n++) {
		change_keys(s, n);
		put_in_buckets(s);
		agree(s);
		divide(s);
		give_keys(s);
		rank_keys(s);
	}
	s->in_mpi /= count;
}

/* The number of the keys, and a sum of all, with the weight that a key's value has. */
static void sum_keys(const uint32_t *keys, int n, uint64_t sum[2])
{
	sum[0] = (uint64_t)n;
	sum[1] = 0;
	for (int i = 0; i < n; i++)
		sum[1] += mix(keys[i] + 1u);
}

/* The ranks have together got the keys that they had, and each one's ranks count what it has got. */
static void check(const struct sort *s)
{
	uint64_t sums[4], of_all[4];
	int end = s->first[s->me + 1];

	sum_keys(s->keys, s->n, sums);
	sum_keys(s->received, s->nreceived, sums + 2);
	MPI_Allreduce(sums, of_all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	if (of_all[0] != of_all[2] || of_all[1] != of_all[3])
		wrong("keysort: keys are missing or changed");
	if (end > s->first[s->me] && s->ranks_of[((uint32_t)end << SHIFT) - 1] != s->nreceived)
		wrong("keysort: wrong ranks of keys");
}

static void time_sort(const struct end *e, struct sort *s)
{
	long count;
	double round, in_mpi;

	s->keys = allocate((size_t)s->n * sizeof *s->keys);
	s->bucketed = allocate((size_t)s->n * sizeof *s->bucketed);
	s->received = allocate((size_t)s->n * s->ranks * sizeof *s->received);
	s->ranks_of = allocate(KEYS * sizeof *s->ranks_of);
	make_keys(s);
	round = over_ends(e, measure(e, sort_rounds, s, 2, &count), MPI_MAX);
	in_mpi = over_ends(e, s->in_mpi, MPI_SUM) / s->ranks;
	check(s);
	if (s->me == 0) {
		printf("BenchmarkKeysort/mode=%s/op=round/ranks=%d/size=%d %ld %.4f us/round\n", e->mode, s->ranks, s->n, count, round * 1e6);
		printf("BenchmarkKeysort/mode=%s/op=mpi/ranks=%d/size=%d %ld %.4f us/round\n", e->mode, s->ranks, s->n, count, in_mpi * 1e6);
	}
	free(s->keys);
	free(s->bucketed);
	free(s->received);
	free(s->ranks_of);
}

static void run(const struct end *e)
{
	struct sort s = { .me = e->side * e->pairs + e->pair, .ranks = 2 * e->pairs };

	if (e->threaded || e->crowded)
		wrong("keysort: needs ranks with a CPU each");
	for (int i = 0; i < e->nsizes; i++) {
		s.n = (int)e->sizes[i];
		time_sort(e, &s);
	}
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
