/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * bandwidth: 4 MiB messages from end 0 to end 1, WINDOW of them under way, each
 * window acknowledged. As in the OSU benchmark, each end has one buffer. End 1
 * spoils a message's first, middle and last word before it arrives and checks
 * them after; they change with every window. The rest is checked at the end.
 */

#include "pair.h"

#include <stdint.h>

enum { SIZE = 4 << 20, WORDS = SIZE / 8, WINDOW = 8, WARM_UP = 2, WINDOWS = 20 };

static const int stamped[] = { 0, WORDS / 2, WORDS - 1 };

static uint64_t pattern(uint64_t word)
{
	return (word + 1) * 0x9e3779b97f4a7c15u;
}

static void stamp(uint64_t *buf, uint64_t value)
{
	for (int s = 0; s < 3; s++)
		buf[stamped[s]] = value;
}

static void send_window(const struct end *e, uint64_t *buf, int window)
{
	MPI_Request req[WINDOW];
	MPI_Status status[WINDOW];

	stamp(buf, window);
	for (int m = 0; m < WINDOW; m++)
		MPI_Isend(buf, SIZE, MPI_BYTE, e->peer, e->sendtag, MPI_COMM_WORLD, &req[m]);
	MPI_Waitall(WINDOW, req, status);
	MPI_Recv(NULL, 0, MPI_BYTE, e->peer, e->recvtag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_window(const struct end *e, uint64_t *buf, int window)
{
	for (int m = 0; m < WINDOW; m++) {
		stamp(buf, UINT64_MAX);
		MPI_Recv(buf, SIZE, MPI_BYTE, e->peer, e->recvtag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int s = 0; s < 3; s++)
			if (buf[stamped[s]] != (uint64_t)window)
				wrong("bandwidth: wrong stamp");
	}
	MPI_Send(NULL, 0, MPI_BYTE, e->peer, e->sendtag, MPI_COMM_WORLD);
}

static void run(const struct end *e)
{
	void (*one_window)(const struct end *, uint64_t *, int) = e->me == 0 ? send_window : receive_window;
	uint64_t *buf = aligned_alloc(4096, SIZE);
	double begin = 0;

	if (buf == NULL)
		wrong("bandwidth: out of memory");
	for (int i = 0; i < WORDS; i++)
		buf[i] = e->me == 0 ? pattern(i) : 0;

	for (int w = 0; w < WARM_UP + WINDOWS; w++) {
		if (w == WARM_UP)
			begin = MPI_Wtime();
		one_window(e, buf, w);
	}
	if (e->me == 0)
		printf("BenchmarkBandwidth/mode=%s/size=%d %d %.4f GB/s\n", e->mode, SIZE,
		       WINDOW * WINDOWS,
		       (double)WINDOW * WINDOWS * SIZE / (MPI_Wtime() - begin) / 1e9);
	for (int i = 1; i < WORDS - 1; i++)
		if (i != WORDS / 2 && buf[i] != pattern(i))
			wrong("bandwidth: wrong answer");
	free(buf);
}

int main(int argc, char **argv)
{
	return run_pair(argc, argv, run);
}
