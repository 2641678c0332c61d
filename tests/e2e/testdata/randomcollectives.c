// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * randomcollectives SEED N: each rank makes the same N collective operations, drawn by chance: on the world, on parts of it, and
 * on copies of them; of all kinds of buffers, datatypes and roots; while messages are on their way that only progress of the MPI library
 * brings to their ends. It prints what each rank has got, as a number that does not depend on the order of additions.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "each_rank.h"

enum { MOST = 40000, LARGE = 1 << 18, COMMS = 5 };

struct rank {
    uint64_t random; /* the same at all ranks */
    uint64_t sum;
    int rank, size;
    MPI_Comm comms[COMMS];
    MPI_Datatype pairs; /* every second int */
    MPI_Request requests[2];
    char *sent, *received;
    int64_t *in, *out;
};

static uint64_t draw(struct rank *r, uint64_t n)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random % n;
}

static void add(struct rank *r, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        r->sum = (r->sum ^ p[i]) * 0x100000001b3u;
}

/* A message to the right neighbour, too large to go without the neighbour's help. */
static void start_message(struct rank *r)
{
    int right = (r->rank + 1) % r->size, left = (r->rank + r->size - 1) % r->size;
    memset(r->sent, r->rank + (int)(r->random & 63), LARGE);
    MPI_Irecv(r->received, LARGE, MPI_BYTE, left, 1, MPI_COMM_WORLD, &r->requests[0]);
    MPI_Isend(r->sent, LARGE, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r->requests[1]);
}

static void end_message(struct rank *r)
{
    MPI_Status statuses[2];
    MPI_Waitall(2, r->requests, statuses);
    add(r, r->received, LARGE);
}

static size_t length(struct rank *r)
{
    static const int most[] = {1, 8, 100, 2000, MOST};
    return draw(r, (uint64_t)most[draw(r, 5)] + 1);
}

static void bcast(struct rank *r, MPI_Comm comm, int size)
{
    int root = (int)draw(r, (uint64_t)size), n = (int)length(r) / 2, shape = (int)draw(r, 3), own;
    int *data = (int *)r->in;
    MPI_Comm_rank(comm, &own);
    for (int i = 0; i < 2 * n; i++)
        data[i] = own == root ? (int)(r->random >> 3) + i : -1;
    if (shape == 1 || (shape == 2 && own == root))
        MPI_Bcast(data, n, r->pairs, root, comm);
    else if (shape == 2) { /* the same signature by another datatype */
        MPI_Bcast(data, n, MPI_INT, root, comm);
        add(r, data, (size_t)n * sizeof *data);
        return;
    } else
        MPI_Bcast(data, 2 * n, MPI_INT, root, comm);
    for (int i = 0; i < 2 * n; i += shape ? 2 : 1)
        add(r, &data[i], sizeof data[i]);
}

/* Values are small whole numbers, so that sums of doubles are exact. */
static void fill(struct rank *r, int kind, int n, int own)
{
    for (int i = 0; i < n; i++) {
        int value = (int)((r->random >> 5) + (uint64_t)(own * 7 + i)) % 5 + 1;
        if (kind == 0)
            ((int *)r->in)[i] = value;
        else if (kind == 1)
            ((double *)r->in)[i] = value;
        else if (kind == 2)
            ((float *)r->in)[i] = (float)value;
        else if (kind == 3)
            r->in[i] = value * 0x100000001;
        else if (kind == 4)
            ((unsigned char *)r->in)[i] = (unsigned char)(value * 37);
        else
            ((short *)r->in)[i] = (short)value;
    }
}

static void reduction(struct rank *r, MPI_Comm comm, int size)
{
    static const struct {
        MPI_Datatype type;
        int bytes, operations;
    } kinds[] = {{MPI_INT, 4, 10}, {MPI_DOUBLE, 8, 4}, {MPI_FLOAT, 4, 4}, {MPI_INT64_T, 8, 10}, {MPI_BYTE, 1, 3}, {MPI_SHORT, 2, 4}};
    static const MPI_Op all[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    int kind = (int)draw(r, 6), n = (int)length(r), root = (int)draw(r, (uint64_t)size + 1), own;
    MPI_Op op = all[draw(r, (uint64_t)kinds[kind].operations) + (kind == 4 ? 4 : 0)];
    int in_place = (int)draw(r, 2) && root % size == 0; /* MPICH 4.0.2 crashes when another root reduces much in place */
    size_t bytes = (size_t)(n * kinds[kind].bytes);

    MPI_Comm_rank(comm, &own);
    if (op == MPI_PROD)
        n = n > 100 ? 100 : n, bytes = (size_t)(n * kinds[kind].bytes);
    fill(r, kind, n, own);
    memset(r->out, 0x55, bytes);
    if (in_place && (root == size || own == root))
        memcpy(r->out, r->in, bytes);
    if (root == size)
        MPI_Allreduce(in_place ? MPI_IN_PLACE : r->in, r->out, n, kinds[kind].type, op, comm);
    else
        MPI_Reduce(in_place && own == root ? MPI_IN_PLACE : r->in, r->out, n, kinds[kind].type, op, root, comm);
    add(r, r->out, bytes);
}

/* Even ranks send a large message, which the receiver waits for, and go on: their part in it is done inside of the barrier. */
static void barrier_that_sends(struct rank *r)
{
    int peer = r->rank ^ 1;
    MPI_Request request = MPI_REQUEST_NULL;

    memset(r->sent, r->rank + 1, LARGE);
    if (peer < r->size && r->rank % 2 == 0)
        MPI_Isend(r->sent, LARGE, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
    else if (peer < r->size)
        MPI_Recv(r->received, LARGE, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    add(r, r->received, LARGE);
}

static void one(struct rank *r)
{
    MPI_Comm comm = r->comms[draw(r, COMMS)];
    uint64_t what = draw(r, 16);
    int size;

    if (what == 14) {
        barrier_that_sends(r);
        draw(r, 2);
        return;
    }
    if (what == 15) {
        start_message(r);
        comm = MPI_COMM_WORLD;
    }
    if (comm != MPI_COMM_NULL) {
        uint64_t before = r->random; /* ranks without the communicator draw no less */
        MPI_Comm_size(comm, &size);
        if (what < 3 || what == 15)
            MPI_Barrier(comm);
        else if (what < 8)
            bcast(r, comm, size);
        else
            reduction(r, comm, size);
        r->random = before;
    }
    if (what == 15)
        end_message(r);
    draw(r, 2);
}

static void be_rank(int *argc, char ***argv)
{
    struct rank r = {0};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);
    r.random = strtoull((*argv)[1], NULL, 10) * 2654435761u + 88172645463325252u;
    r.in = malloc(MOST * 8);
    r.out = malloc(MOST * 8);
    r.sent = malloc(LARGE);
    r.received = calloc(1, LARGE);
    MPI_Type_vector(1, 1, 2, MPI_INT, &r.pairs);
    MPI_Datatype every_second = r.pairs;
    MPI_Type_create_resized(every_second, 0, 2 * sizeof(int), &r.pairs);
    MPI_Type_free(&every_second);
    MPI_Type_commit(&r.pairs);
    r.comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &r.comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, r.rank % 2, -r.rank, &r.comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, r.rank < r.size - 1 ? 0 : MPI_UNDEFINED, 0, &r.comms[3]);
    MPI_Comm_split(MPI_COMM_WORLD, r.rank < r.size / 2, 0, &r.comms[4]);

    for (long i = strtol((*argv)[2], NULL, 10); i > 0; i--) {
        one(&r);
        if (i % 50 == 0) { /* communicators that come and go */
            MPI_Comm_free(&r.comms[4]);
            MPI_Comm_dup(r.comms[i % 100 ? 2 : 1], &r.comms[4]);
        }
    }
    MPI_Comm_free(&r.comms[1]);
    MPI_Type_free(&r.pairs);
    MPI_Finalize();
    printf("rank %d: %016llx\n", r.rank, (unsigned long long)r.sum);
    fflush(stdout);
}
