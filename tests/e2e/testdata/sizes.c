/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * sizes: every rank exchanges messages with every other one: of sizes beside those at
 * which the library changes its way, and of random ones. Each byte is checked, and that
 * none was written behind the end. Then messages longer than their buffers, which are
 * errors and hurt nothing else.
 */
#include <mpi.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = (1 << 20) + 1, GUARD = 64, RANDOM = 16, WINDOW = 4 };
static const int edges[] = {93, 8192, 8256, 524288};
enum { EDGES = sizeof edges / sizeof *edges };

struct rank {
    int me, size;
    unsigned char *out[WINDOW], *in[WINDOW];
    long wrong;
};

static unsigned char value(int from, int to, int message, int i)
{
    return (unsigned char)((unsigned)(from * 31 + to * 17 + message * 13 + i + (i >> 8) * 5) % 251);
}

/* Both ends draw the same sizes. */
static int random_size(int a, int b, int k)
{
    unsigned seed = (unsigned)((a < b ? a * 64 + b : b * 64 + a) * 1000 + k);
    return rand_r(&seed) % (1 << (8 + k % 13));
}

static void check(struct rank *r, int from, int w, int bytes)
{
    for (int i = 0; i < bytes; i++)
        r->wrong += r->in[w][i] != value(from, r->me, w, i);
    for (int i = bytes; i < bytes + GUARD; i++)
        r->wrong += r->in[w][i] != 255;
}

/* A window of messages each way, `bytes` long. */
static void exchange(struct rank *r, int peer, int bytes, int window)
{
    MPI_Request request[2 * WINDOW];
    MPI_Status status[2 * WINDOW];
    for (int w = 0; w < window; w++) {
        memset(r->in[w], 255, (size_t)bytes + GUARD);
        for (int i = 0; i < bytes; i++)
            r->out[w][i] = value(r->me, peer, w, i);
        MPI_Irecv(r->in[w], bytes, MPI_BYTE, peer, w, MPI_COMM_WORLD, &request[w]);
        MPI_Isend(r->out[w], bytes, MPI_BYTE, peer, w, MPI_COMM_WORLD, &request[window + w]);
    }
    MPI_Waitall(2 * window, request, status);
    for (int w = 0; w < window; w++)
        check(r, peer, w, bytes);
}

/* The first half arrives, or nothing; a byte behind the buffer is never touched. */
static void truncated(struct rank *r, int peer, int bytes)
{
    MPI_Request request;
    MPI_Status status;
    int class = MPI_SUCCESS;
    memset(r->in[0], 255, (size_t)bytes);
    MPI_Isend(r->out[0], bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &request);
    MPI_Error_class(MPI_Recv(r->in[0], bytes / 2, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &status), &class);
    r->wrong += class != MPI_ERR_TRUNCATE;
    for (int i = bytes / 2; i < bytes; i++)
        r->wrong += r->in[0][i] != 255;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void all(struct rank *r, int peer)
{
    for (int e = 0; e < EDGES; e++)
        for (int bytes = edges[e] - 1; bytes <= edges[e] + 1; bytes++)
            exchange(r, peer, bytes, bytes < 1 << 19 ? WINDOW : 1);
    for (int k = 0; k < RANDOM; k++)
        exchange(r, peer, random_size(r->me, peer, k), 2);
    for (int e = 0; e < EDGES; e++) {
        truncated(r, peer, edges[e]);
        exchange(r, peer, edges[e], 1);
    }
}

int main(int argc, char **argv)
{
#pragma omp parallel
    {
        struct rank r = {0};
        MPI_Init(&argc, &argv);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
        MPI_Comm_size(MPI_COMM_WORLD, &r.size);
        for (int w = 0; w < WINDOW; w++) {
            r.out[w] = malloc(MOST);
            r.in[w] = malloc(MOST + GUARD);
        }
        for (int mask = 1; mask < r.size; mask++) /* pairs that do not meet */
            all(&r, r.me ^ mask);
        printf("sizes: rank %d of %d, %ld wrong\n", r.me, r.size, r.wrong);
        for (int w = 0; w < WINDOW; w++) {
            free(r.out[w]);
            free(r.in[w]);
        }
        MPI_Finalize();
    }
    return 0;
}
