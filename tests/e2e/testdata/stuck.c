// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* stuck WAY: ranks that wait for ever, in a way that is named; under processes or as OpenMP threads. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static MPI_Comm world, twin, half;
#pragma omp threadprivate(rank, size, world, twin, half)

static void receive(int from, int tag, MPI_Comm comm)
{
    int data;
    MPI_Recv(&data, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

static void receive_cycle(void) { receive((rank + 1) % size, 10 + rank, world); }

static void mismatch(void)
{
    int data = 0;
    if (rank < size - 1)
        MPI_Barrier(world);
    else
        MPI_Bcast(&data, 1, MPI_INT, 0, world);
}

static void missing(void)
{
    if (rank == 2)
        sleep(1000);
    MPI_Barrier(world);
}

static void lost_message(void)
{
    if (rank == 0)
        receive(1, 5, world);
}

static void wrong_tag(void)
{
    int data = 0;
    if (rank == 0)
        receive(1, 1, world);
    else if (rank == 1)
        MPI_Ssend(&data, 1, MPI_INT, 0, 2, world);
}

static void wrong_communicator(void)
{
    int data = 0;
    if (rank == 0)
        receive(1, 1, twin);
    else if (rank == 1)
        MPI_Ssend(&data, 1, MPI_INT, 0, 1, world);
}

/* Rank 1 waits for a lock that rank 0 has, and rank 0 for a message from rank 1. */
static void window_lock(void)
{
    MPI_Win window;
    int *memory, data = 0;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &memory, &window);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Put(&data, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
        MPI_Win_flush(2, window);
    }
    MPI_Barrier(world);
    if (rank == 0)
        receive(1, 9, world);
    else if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Put(&data, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
        MPI_Win_flush(2, window);
    }
    if (rank != 2)
        MPI_Barrier(world);
    receive(0, 99, world);
}

static void ended_rank(void)
{
    if (rank == 1)
        exit(0);
    if (rank == 0)
        receive(1, 3, world);
    MPI_Barrier(world);
}

static void send_cycle(void)
{
    static char data[1 << 22];
    MPI_Send(data, sizeof data, MPI_BYTE, (rank + 1) % size, 4, world);
}

static void mixed(void)
{
    if (rank == 0)
        receive(1, 6, half == MPI_COMM_NULL ? world : half);
    else if (rank == 1)
        MPI_Barrier(world);
    else
        MPI_Barrier(half);
}

/* Slow, but none waits for ever: a token goes round, and each rank keeps it for a while. */
static void slow(void)
{
    int data = 0;
    for (int round = 0; round < 3; round++) {
        if (rank > 0)
            receive(rank - 1, round, world);
        usleep(300000 + 100000 * (unsigned)((rank + round) % 4));
        if (rank < size - 1)
            MPI_Send(&data, 1, MPI_INT, rank + 1, round, world);
        MPI_Barrier(world);
        usleep(200000 * (unsigned)rank);
        MPI_Bcast(&data, 1, MPI_INT, round % size, world);
    }
}

static int is_stopped(int pid) /* the third field of proc_pid_stat(5) */
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        abort();
    fclose(file);
    return state == 'T';
}

/* Rank 1 waits until somebody stops it, and then gets its message. */
static void stopped(void)
{
    int pid = getpid();
    if (rank == 1) {
        MPI_Send(&pid, 1, MPI_INT, 0, 0, world);
        receive(0, 1, world);
        MPI_Send(&pid, 1, MPI_INT, 0, 2, world);
    } else if (rank == 0) {
        MPI_Recv(&pid, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
        while (!is_stopped(pid))
            usleep(1000);
        MPI_Send(&pid, 1, MPI_INT, 1, 1, world);
        receive(1, 2, world);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"receive_cycle", receive_cycle}, {"mismatch", mismatch}, {"missing", missing}, {"lost_message", lost_message}, {"wrong_tag", wrong_tag},
    {"wrong_communicator", wrong_communicator}, {"window_lock", window_lock}, {"ended_rank", ended_rank}, {"send_cycle", send_cycle},
    {"mixed", mixed}, {"slow", slow}, {"stopped", stopped},
};

static void run(const char *way)
{
    MPI_Init(NULL, NULL);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_dup(world, &twin);
    MPI_Comm_set_name(twin, "twin");
    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(way, ways[i].name) == 0)
            ways[i].run();
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
#pragma omp parallel
    run(argv[1]);
    return 0;
}
