/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * replies: how long a rank waits for the reply of a busy one, which computes in slices of 1 ms and looks for requests between them
 * by MPI_Test. One pair; arguments: see ends.h. A size is that of the request, and the reply has 8 bytes (op request), or the other
 * way round, and the reply does not lie in a row (op column). A request waits for the end of a slice in every mode.
 */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>

static const double slice = 0.001; /* seconds */
enum { REQUEST, REPLY };           /* tags */

struct exchange {
	size_t request_size, reply_size;
	void *request, *reply;
	MPI_Datatype reply_type;
	int reply_count;
};

static void ask(const struct end *e, struct exchange *x, long n)
{
	MPI_Request req;

	stamp(x->request, x->request_size, (uint64_t)n);
	MPI_Irecv(x->reply, x->reply_count, x->reply_type, e->peer, REPLY, e->comm, &req);
	MPI_Send(x->request, (int)x->request_size, MPI_BYTE, e->peer, REQUEST, e->comm);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	check_stamp(x->reply, sizeof(uint64_t), (uint64_t)n);
}

/* Computes until the library says that the request is complete, which is seldom asked. */
static void compute_until(MPI_Request *req)
{
	int done = 0;

	while (!done) {
		use_cpu_for(slice);
		MPI_Test(req, &done, MPI_STATUS_IGNORE);
	}
}

static void answer(const struct end *e, struct exchange *x, long n)
{
	MPI_Request req;

	MPI_Irecv(x->request, (int)x->request_size, MPI_BYTE, e->peer, REQUEST, e->comm, &req);
	compute_until(&req);
	check_stamp(x->request, x->request_size, (uint64_t)n);
	stamp(x->reply, sizeof(uint64_t), (uint64_t)n);
	MPI_Isend(x->reply, x->reply_count, x->reply_type, e->peer, REPLY, e->comm, &req);
	compute_until(&req);
}

static void exchange(const struct end *e, void *what, long first, long count)
{
	for (long n = first; n < first + count; n++)
		(e->side ? answer : ask)(e, what, n);
}

static void time_replies(const struct end *e, const char *op, size_t size, struct exchange *x)
{
	long count;
	double took;

	x->request = allocate(2 * LARGEST);
	x->reply = allocate(2 * LARGEST);
	took = measure(e, exchange, x, 5, &count);
	if (e->side == 0)
		printf("BenchmarkReplies/mode=%s/op=%s/size=%zu %ld %.4f us/reply\n", e->mode, op, size, count, took * 1e6);
	free(x->request);
	free(x->reply);
}

static void run(const struct end *e)
{
	MPI_Datatype column;

	if (e->pairs != 1 || e->crowded)
		wrong("replies: needs one pair with a CPU each");
	for (int s = 0; s < e->nsizes; s++) {
		int words = (int)(e->sizes[s] / sizeof(uint64_t));
		time_replies(e, "request", e->sizes[s],
			     &(struct exchange){ .request_size = e->sizes[s], .reply_type = MPI_UINT64_T, .reply_count = 1 });
		MPI_Type_vector(words, 1, 2, MPI_UINT64_T, &column);
		MPI_Type_commit(&column);
		time_replies(e, "column", e->sizes[s], &(struct exchange){ .request_size = sizeof(uint64_t), .reply_type = column, .reply_count = 1 });
		MPI_Type_free(&column);
	}
}

int main(int argc, char **argv)
{
	return run_ends(argc, argv, run);
}
