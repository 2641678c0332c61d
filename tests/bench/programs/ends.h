/*
 * SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * ends.h: two sides with the same number of ends each. End p of side 0 and end p of side 1
 * are a pair, and talk to each other in every mode:
 *
 *   flat, async, private, tpsl, memory, neighbours, noted, counted
 *                         every OpenMP thread is a rank; the first half of the ranks is side 0
 *   tags, comms           two processes with MPI_THREAD_MULTIPLE, each a side; its threads are the
 *                         ends, told apart by tags, or by a communicator for each pair
 *   fan, leaf             rank 0 is called with fan, has MPI_THREAD_MULTIPLE, and is side 0, its threads the
 *                         ends; the other ranks are called with leaf, and are an end each
 *
 * A program is called with the mode, where the ranks of the sides are (threads of one process,
 * processes; else they are on two hosts), for how many milliseconds a figure is measured (0: the fewest
 * rounds), and a comma list of sizes. BENCH_CPUS, another, names the CPU on which each end must run.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_ENDS = 256, MOST_SIZES = 32, LARGEST = 4 << 20 };

struct end {
	const char *mode, *between;
	bool threaded;
	bool crowded; /* ends share CPUs */
	int side, pair, pairs; /* 0 or 1; 0 to pairs - 1 */
	int peer, tag;         /* MPI rank and tag of the other */
	MPI_Comm comm;
	double start;   /* seconds before the first figure, which are not measured */
	double seconds; /* of one figure */
	size_t sizes[MOST_SIZES]; /* of messages, in bytes */
	int nsizes;
};

/* Runs the ends, each in a thread of its own; the exit status of the program. */
int run_ends(int argc, char **argv, void (*run)(const struct end *));

/* What the programs of these names run; each has a main of its own, weak, as talk.c has one, too. */
void latency(const struct end *e);
void stream(const struct end *e);

/*
 * Messages to and from the peer, and MPI_Waitall. Where ends are crowded they yield the CPU while
 * they wait, in every mode: MPI libraries spin, and that would measure time slices.
 */
void send_to_peer(const struct end *e, const void *message, size_t size);
void receive_from_peer(const struct end *e, void *message, size_t size);
void wait_all(const struct end *e, int count, MPI_Request req[]);

/* Rank 0 prints which MPI library this is. */
void tell_library(void);

/* Ends the job with a message. */
void wrong(const char *what);

/* The largest of all ends' values, or their sum; all ends call it, so it is a barrier, too. */
double over_ends(const struct end *e, double value, MPI_Op op);

/*
 * Does rounds until the time of a figure is full, and returns the seconds that one took this end.
 * All ends do the same rounds, in batches: `least`, which are not counted, the same again, then
 * twice as many each time. So no guess from a few rounds decides how long it takes. Before an end's
 * first figure, rounds are not counted until its start is over: a process that has just started
 * still touches pages for the first time and gives memory back.
 */
typedef void rounds(const struct end *e, void *what, long first, long count);
double measure(const struct end *e, rounds *f, void *what, long least, long *count);

/* The words at the ends of a message, if it is that long, which change from message to message. */
void stamp(void *message, size_t size, uint64_t value);
void check_stamp(const void *message, size_t size, uint64_t value);
/* All other words. */
void fill(void *message, size_t size);
void check_filled(const void *message, size_t size);

void *allocate(size_t size);

/* Seconds. */
double now(void);

/* Uses the CPU. */
void use_cpu(long loops);
void use_cpu_for(double seconds);
