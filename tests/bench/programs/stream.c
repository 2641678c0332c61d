/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * stream: windows of messages from side 0 to side 1, each window acknowledged, for the rate of
 * messages and the bandwidth; then in both directions at once, for the bandwidth. Figures are
 * of all pairs together. Arguments: see ends.h.
 *
 * Messages leave from one buffer and arrive, in turns, in the parts of one of 4 MiB. Each
 * window has a stamp of its own, and what is in a part before is spoilt.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, LARGE = 65536, MOST_OF_LARGE = 16 };

struct flow {
	char *out, *in;
	size_t size;
	int window, parts;
	bool sends, receives;
};

static void receive(const struct end *e, const struct flow *f, long window)
{
	MPI_Request req[MOST];

	for (int m = 0; m < f->window; m += f->parts) {
		for (int p = 0; p < f->parts; p++) {
			stamp(f->in + p * f->size, f->size, UINT64_MAX);
			MPI_Irecv(f->in + p * f->size, f->size, MPI_BYTE, e->peer, e->tag, e->comm, &req[p]);
		}
		wait_all(e, f->parts, req);
		for (int p = 0; p < f->parts; p++)
			check_stamp(f->in + p * f->size, f->size, window);
	}
}

static void windows(const struct end *e, void *what, long first, long count)
{
	const struct flow *f = what;
	MPI_Request req[MOST];

	for (long w = first; w < first + count; w++) {
		if (f->sends) {
			stamp(f->out, f->size, w);
			for (int m = 0; m < f->window; m++)
				MPI_Isend(f->out, f->size, MPI_BYTE, e->peer, e->tag, e->comm, &req[m]);
		}
		if (f->receives)
			receive(e, f, w);
		if (f->sends)
			wait_all(e, f->window, req);
		if (f->sends && !f->receives)
			receive_from_peer(e, NULL, 0);
		if (f->receives && !f->sends)
			send_to_peer(e, NULL, 0);
	}
}

/* Returns messages per second of one direction, all pairs together. */
static double flow(const struct end *e, struct flow *f, long *count)
{
	double window;

	memset(f->in, 0, LARGEST);
	window = over_ends(e, measure(e, windows, f, 1, count), MPI_MAX);
	for (int p = 0; p < f->parts && f->receives; p++)
		check_filled(f->in + p * f->size, f->size);
	return f->window * e->pairs / window;
}

static void print(const struct end *e, const char *what, const struct flow *f, long count, double value, const char *unit)
{
	if (e->side == 0 && e->pair == 0)
		printf("Benchmark%s/mode=%s/between=%s/pairs=%d/size=%zu %ld %.5f %s\n", what, e->mode,
		       e->between, e->pairs, f->size, count * f->window, value, unit);
}

void stream(const struct end *e)
{
	struct flow f = { .out = allocate(LARGEST), .in = allocate(LARGEST) };

	for (int s = 0; s < e->nsizes; s++) {
		double rate;
		long count;

		f.size = e->sizes[s];
		fill(f.out, f.size);
		f.window = f.size > LARGE ? MOST_OF_LARGE : MOST;
		f.parts = LARGEST / f.size < (size_t)f.window ? (int)(LARGEST / f.size) : f.window;
		f.sends = e->side == 0;
		f.receives = e->side == 1;
		rate = flow(e, &f, &count);
		print(e, "Rate", &f, count, rate / 1e6, "Mmsg/s");
		print(e, "Bandwidth", &f, count, rate * f.size / 1e9, "GB/s");
		f.sends = f.receives = true;
		rate = flow(e, &f, &count);
		print(e, "BiBandwidth", &f, count, 2 * rate * f.size / 1e9, "GB/s");
	}
	free(f.out);
	free(f.in);
}

__attribute__((weak)) int main(int argc, char **argv)
{
	return run_ends(argc, argv, stream);
}
