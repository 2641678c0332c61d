/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * call: what a call takes that has nothing to do: MPI_Comm_rank (op rank), MPI_Send to MPI_PROC_NULL (op send), and MPI_Irecv,
 * MPI_Isend and MPI_Waitall with MPI_PROC_NULL, of which each counts as a call (op exchange). Arguments: see ends.h; the size is not used.
 * The time is the mean of all ranks.
 */

#include "ends.h"

#include <stdio.h>

static void rank_rounds(const struct end *e, void *what, long first, long count)
{
	(void)first;
	for (long n = 0; n < count; n++)
		MPI_Comm_rank(e->comm, what);
}

static void send_rounds(const struct end *e, void *what, long first, long count)
{
	(void)first;
	for (long n = 0; n < count; n++)
		MPI_Send(what, 1, MPI_INT, MPI_PROC_NULL, e->tag, e->comm);
}

static void exchange_rounds(const struct end *e, void *what, long first, long count)
{
	MPI_Request req[2];

	(void)first;
	for (long n = 0; n < count; n++) {
		MPI_Irecv(what, 1, MPI_INT, MPI_PROC_NULL, e->tag, e->comm, &req[0]);
		MPI_Isend(what, 1, MPI_INT, MPI_PROC_NULL, e->tag, e->comm, &req[1]);
		MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
	}
}

static void time_calls(const struct end *e, const char *op, rounds *f, int calls)
{
	int me;
	long count;
	double call = over_ends(e, measure(e, f, &me, 1000, &count), MPI_SUM) / (2 * e->pairs) / calls;

	if (e->side == 0 && e->pair == 0)
		printf("BenchmarkCall/mode=%s/op=%s %ld %.6f us/call\n", e->mode, op, count * calls, call * 1e6);
}

static void run(const struct end *e)
{
	time_calls(e, "rank", rank_rounds, 1);
	time_calls(e, "send", send_rounds, 1);
	time_calls(e, "exchange", exchange_rounds, 3);
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
