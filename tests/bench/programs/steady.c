/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * steady MODE SECONDS: windows of small messages from rank 0 to rank 1, each acknowledged, for so long.
 * Rank 0 says every 20 ms when it is, as `date +%s.%N` has it, and how many messages a second came:
 *
 *   ranks    each rank is a thread
 *   one      so it is, and one thread acts for both in turns: no wait, and no second CPU, is in the rate
 *   threads  each rank is a process with two threads and MPI_THREAD_MULTIPLE, told apart by tags
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<tpsl.h>)
#include <tpsl.h>
#endif

enum { WINDOW = 64, BYTES = 8 };

static long sent; /* by all threads of this process */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One window; whether there is to be another one. */
static int send_window(int tag, int more)
{
	char out[WINDOW][BYTES] = { { (char)more } };
	MPI_Request req[WINDOW];

	for (int i = 0; i < WINDOW; i++)
		MPI_Isend(out[i], BYTES, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &req[i]);
	MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
	MPI_Recv(out, 1, MPI_CHAR, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	__atomic_fetch_add(&sent, WINDOW, __ATOMIC_RELAXED);
	return more;
}

static int receive_window(int tag)
{
	char in[WINDOW][BYTES];
	MPI_Request req[WINDOW];

	for (int i = 0; i < WINDOW; i++)
		MPI_Irecv(in[i], BYTES, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &req[i]);
	MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
	MPI_Send(in[0], 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
	return in[0][0];
}

/* Says the rate if it is time to, and whether there is more to come. */
static int tell(double *since, double end)
{
	double at = now();

	if (at - *since >= 0.02) {
		printf("%.6f %.0f\n", at, (double)__atomic_exchange_n(&sent, 0, __ATOMIC_RELAXED) / (at - *since));
		fflush(stdout);
		*since = at;
	}
	return at < end;
}

static void talk(int tag, double end)
{
	double since = now();
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1)
		while (receive_window(tag))
			;
	else
		while (send_window(tag, tag == 0 ? tell(&since, end) : now() < end))
			;
}

#ifdef TPSL_H
static void act_for_both(double end)
{
	double since = now();

	while (tell(&since, end)) {
		char out[BYTES], in[WINDOW][BYTES];
		MPI_Request from[WINDOW], to[WINDOW];
		int left = 0, arrived = 0;

		TPSL_Switch(0);
		for (int i = 0; i < WINDOW; i++)
			MPI_Isend(out, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &from[i]);
		TPSL_Switch(1);
		for (int i = 0; i < WINDOW; i++)
			MPI_Irecv(in[i], BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &to[i]);
		while (!left || !arrived) {
			TPSL_Switch(1);
			if (!arrived)
				MPI_Testall(WINDOW, to, &arrived, MPI_STATUSES_IGNORE);
			TPSL_Switch(0);
			if (!left)
				MPI_Testall(WINDOW, from, &left, MPI_STATUSES_IGNORE);
		}
		sent += WINDOW;
	}
}

static int one(int argc, char **argv, double end)
{
	int ready = 0, over = 0;

#pragma omp parallel num_threads(2)
	{
		MPI_Init(&argc, &argv);
		__atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
		if (omp_get_thread_num() == 0) {
			while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2)
				usleep(1000);
			act_for_both(end);
			__atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
		}
		while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST))
			usleep(1000);
		MPI_Finalize();
	}
	return 0;
}
#endif

int main(int argc, char **argv)
{
	double end = now() + (argc > 2 ? atof(argv[2]) : 0);
	int level;

#ifdef TPSL_H
	if (argc == 3 && strcmp(argv[1], "one") == 0)
		return one(argc, argv, end);
#endif
	if (argc == 3 && strcmp(argv[1], "ranks") == 0) {
#pragma omp parallel
		{
			MPI_Init(&argc, &argv);
			talk(0, end);
			MPI_Finalize();
		}
		return 0;
	}
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
#pragma omp parallel num_threads(2)
	talk(omp_get_thread_num(), end);
	MPI_Finalize();
	return 0;
}
