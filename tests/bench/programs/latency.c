/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/* latency: half the round trip of an 8-byte message, each checked. */

#include "pair.h"

#include <stdint.h>

enum { WARM_UP = 2000, ROUNDS = 50000 };

static void rounds(const struct end *e, uint64_t from, uint64_t to)
{
	for (uint64_t n = from; n < to; n++) {
		uint64_t word = e->me == 0 ? n : 0;

		if (e->me == 0)
			MPI_Send(&word, 1, MPI_UINT64_T, e->peer, e->sendtag, MPI_COMM_WORLD);
		MPI_Recv(&word, 1, MPI_UINT64_T, e->peer, e->recvtag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (word != (e->me == 0 ? ~n : n))
			wrong("latency: wrong answer");
		word = ~word;
		if (e->me == 1)
			MPI_Send(&word, 1, MPI_UINT64_T, e->peer, e->sendtag, MPI_COMM_WORLD);
	}
}

static void run(const struct end *e)
{
	/* Threads starve each other on the library's lock: seconds, if at all. */
	int fewer = strcmp(e->mode, "threaded") == 0 ? 50 : 1;
	int warm_up = WARM_UP / fewer, n = ROUNDS / fewer;

	rounds(e, 0, warm_up);

	double begin = MPI_Wtime();

	rounds(e, warm_up, warm_up + n);
	if (e->me == 0)
		printf("BenchmarkLatency/mode=%s/size=8 %d %.4f us/msg\n", e->mode, n,
		       (MPI_Wtime() - begin) / n / 2 * 1e6);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run);
}
