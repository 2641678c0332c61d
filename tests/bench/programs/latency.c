/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * latency: half the round trip of a message of each size, the mean of all pairs, which talk
 * at the same time. Arguments: see ends.h. The reply differs from what it answers.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ball {
	void *buf;
	size_t size;
};

static void play(const struct end *e, void *what, long first, long count)
{
	struct ball *b = what;

	for (uint64_t round = first; round < (uint64_t)(first + count); round++) {
		const uint64_t n = round | (uint64_t)e->pair << 48; /* no message of another pair has it */

		if (e->side == 0) {
			stamp(b->buf, b->size, n);
			send_to_peer(e, b->buf, b->size);
		}
		receive_from_peer(e, b->buf, b->size);
		check_stamp(b->buf, b->size, e->side == 0 ? ~n : n);
		if (e->side == 1) {
			stamp(b->buf, b->size, ~n);
			send_to_peer(e, b->buf, b->size);
		}
	}
}

void latency(const struct end *e)
{
	struct ball b = { allocate(LARGEST), 0 };

	for (int s = 0; s < e->nsizes; s++) {
		long count;
		double round;

		b.size = e->sizes[s];
		memset(b.buf, 0, b.size);
		if (e->side == 0)
			fill(b.buf, b.size);
		round = over_ends(e, measure(e, play, &b, 5, &count), MPI_SUM) / (2 * e->pairs);
		if (e->side == 0 && e->pair == 0)
			printf("BenchmarkLatency/mode=%s/between=%s/pairs=%d/size=%zu %ld %.4f us/msg\n",
			       e->mode, e->between, e->pairs, b.size, count, round / 2 * 1e6);
		check_filled(b.buf, b.size);
	}
	free(b.buf);
}

__attribute__((weak)) int main(int argc, char **argv)
{
	return run_ends(argc, argv, latency);
}
