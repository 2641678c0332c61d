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
    MPI_Datatype two;   /* ints */
    MPI_Op add;         /* of the program's own */
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

/* ---- reductions ---- */

/* Kinds of elements: two numbers in each, of which the second one may have no bytes. */
enum operations { ORDER = 1, ARITHMETIC = 2, BITS = 4, LOGIC = 8, PLACES = 16, OWN = 32, INTEGER = ORDER | ARITHMETIC | BITS | LOGIC };
static const struct kind {
    MPI_Datatype type;
    char number; /* i: integer, u: unsigned, f: float, d: double, l: long double */
    int width, bytes, second, second_bytes;
    int operations;
} kinds[] = {
    {MPI_INT, 'i', 4, 4, 0, 0, INTEGER | OWN}, {MPI_DOUBLE, 'd', 8, 8, 0, 0, ORDER | ARITHMETIC}, {MPI_FLOAT, 'f', 4, 4, 0, 0, ORDER | ARITHMETIC},
    {MPI_INT64_T, 'i', 8, 8, 0, 0, INTEGER}, {MPI_SHORT, 'i', 2, 2, 0, 0, INTEGER}, {MPI_UINT8_T, 'u', 1, 1, 0, 0, INTEGER},
    {MPI_SIGNED_CHAR, 'i', 1, 1, 0, 0, INTEGER}, {MPI_UNSIGNED_SHORT, 'u', 2, 2, 0, 0, INTEGER}, {MPI_UNSIGNED, 'u', 4, 4, 0, 0, INTEGER},
    {MPI_UINT64_T, 'u', 8, 8, 0, 0, INTEGER}, {MPI_AINT, 'i', 8, 8, 0, 0, ORDER | ARITHMETIC | BITS}, {MPI_BYTE, 'i', 1, 1, 0, 0, BITS},
    {MPI_CHAR, 'i', 1, 1, 0, 0, ORDER | ARITHMETIC}, {MPI_C_BOOL, 'i', 1, 1, 0, 0, LOGIC}, {MPI_LOGICAL, 'i', 4, 4, 0, 0, LOGIC},
    {MPI_LONG_DOUBLE, 'l', 16, 10, 0, 0, ORDER | ARITHMETIC}, {MPI_C_FLOAT_COMPLEX, 'f', 8, 4, 4, 4, ARITHMETIC},
    {MPI_C_DOUBLE_COMPLEX, 'd', 16, 8, 8, 8, ARITHMETIC}, {MPI_COMPLEX, 'f', 8, 4, 4, 4, ARITHMETIC},
    {MPI_DOUBLE_COMPLEX, 'd', 16, 8, 8, 8, ARITHMETIC}, {MPI_C_LONG_DOUBLE_COMPLEX, 'l', 32, 10, 16, 10, ARITHMETIC},
    {MPI_2INT, 'i', 8, 4, 4, 4, PLACES}, {MPI_SHORT_INT, 'i', 8, 2, 4, 4, PLACES}, {MPI_LONG_INT, 'i', 16, 8, 8, 4, PLACES},
    {MPI_FLOAT_INT, 'f', 8, 4, 4, 4, PLACES}, {MPI_DOUBLE_INT, 'd', 16, 8, 8, 4, PLACES}, {MPI_LONG_DOUBLE_INT, 'l', 32, 10, 16, 4, PLACES},
    {MPI_2REAL, 'f', 8, 4, 4, 4, PLACES}, {MPI_2DOUBLE_PRECISION, 'd', 16, 8, 8, 8, PLACES},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Values are small whole numbers, so that sums are exact. Truth is 1. The largest unsigned numbers are left out, as MPICH 4.0.2 compares
 * them as if they had a sign. */
static void set_number(const struct kind *k, char number, char *to, int bytes, int value)
{
    int64_t integer = k->operations == LOGIC ? value & 1 : number == 'u' ? abs(value) : value;
    float f = (float)value;
    double d = value;
    long double l = value;
    memcpy(to, number == 'i' || number == 'u' ? (void *)&integer : number == 'f' ? (void *)&f : number == 'd' ? (void *)&d : (void *)&l, (size_t)bytes);
}

static void fill(struct rank *r, const struct kind *k, int n, int own)
{
    for (int i = 0; i < n; i++) {
        char *element = (char *)r->in + i * k->width;
        int value = (int)((r->random >> 5) + (uint64_t)(own * 7 + i)) % 5 + 1;
        int fortran = k->type == MPI_2REAL || k->type == MPI_2DOUBLE_PRECISION, complex = k->operations == ARITHMETIC;
        memset(element, 0, (size_t)k->width);
        value = k->operations == PLACES ? value / 2 : value; /* some are equal */
        set_number(k, k->number, element, k->bytes, value);
        set_number(k, fortran || complex ? k->number : 'i', element + k->second, k->second_bytes, k->operations == PLACES ? (own * 5 + i) % 7 : value - 3);
    }
}

static void add_elements(struct rank *r, const struct kind *k, int n)
{
    for (int i = 0; i < n; i++) {
        const char *element = (const char *)r->out + i * k->width;
        add(r, element, (size_t)k->bytes);
        add(r, element + k->second, (size_t)k->second_bytes);
    }
}

static void add_ints(void *from, void *to, int *n, MPI_Datatype *type)
{
    for (int i = 0; i < *n; i++)
        ((int *)to)[i] += ((int *)from)[i];
}

static MPI_Op draw_operation(struct rank *r, const struct kind *k)
{
    const struct {
        MPI_Op op;
        int of;
    } all[] = {{MPI_MAX, ORDER}, {MPI_MIN, ORDER}, {MPI_SUM, ARITHMETIC}, {MPI_PROD, ARITHMETIC}, {MPI_BAND, BITS}, {MPI_BOR, BITS}, {MPI_BXOR, BITS},
               {MPI_LAND, LOGIC}, {MPI_LOR, LOGIC}, {MPI_LXOR, LOGIC}, {MPI_MINLOC, PLACES}, {MPI_MAXLOC, PLACES}, {r->add, OWN}};
    for (;;) {
        uint64_t i = draw(r, sizeof all / sizeof *all);
        if (all[i].of & k->operations)
            return all[i].op;
    }
}

/* Several elements to each rank, or as many to all. Returns how many this rank gets. */
static int reduce_scatter(struct rank *r, const struct kind *k, int n, int own, int size, const void *in, MPI_Op op, MPI_Comm comm)
{
    int counts[64], block = n / size, rest = n;
    if (draw(r, 2)) {
        MPI_Reduce_scatter_block(in, r->out, block, k->type, op, comm);
        return block;
    }
    for (int i = 0; i < size; rest -= counts[i++])
        counts[i] = i == size - 1 ? rest : (int)draw(r, (uint64_t)rest + 1);
    MPI_Reduce_scatter(in, r->out, counts, k->type, op, comm);
    return counts[own];
}

static void reduction(struct rank *r, MPI_Comm comm, int size)
{
    const struct kind *k = &kinds[draw(r, KINDS)];
    int n = (int)length(r), call = (int)draw(r, 5), root = (int)draw(r, (uint64_t)size), in_place = (int)draw(r, 2), own;
    MPI_Op op = draw_operation(r, k);

    MPI_Comm_rank(comm, &own);
    n = n * k->width > MOST * 8 ? MOST * 8 / k->width : n;
    n = op == MPI_PROD && n > 100 ? 100 : n;
    if (call == 0 && root != 0)
        in_place = 0; /* MPICH 4.0.2 crashes when another root reduces much in place */
    fill(r, k, n, own);
    memset(r->out, 0x55, MOST * 8);
    if (in_place && (call > 0 || own == root))
        memcpy(r->out, r->in, (size_t)(n * k->width));
    const void *in = in_place && (call > 0 || own == root) ? MPI_IN_PLACE : r->in;
    if (call == 0)
        MPI_Reduce(in, r->out, n, k->type, op, root, comm);
    else if (call == 1)
        MPI_Allreduce(in, r->out, n, k->type, op, comm);
    else if (call == 2)
        n = reduce_scatter(r, k, n, own, size, in, op, comm);
    else if (call == 3)
        MPI_Scan(in, r->out, n, k->type, op, comm);
    else
        MPI_Exscan(in, r->out, n, k->type, op, comm);
    if (call == 0 ? own == root : call < 4 || own > 0)
        add_elements(r, k, n);
}

/* ---- blocks from and to ranks ---- */

enum { GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, MOVES };

/* A buffer of blocks of ints, with one of the datatypes of a rank: ints, every second int, or two ints at once. */
struct side {
    char *data;
    MPI_Datatype type;
    int count, counts[64], displacements[64];
    MPI_Datatype types[64];
};

/* How many ints are in a block of a rank for another one; if the operation is in place, as many as in the other direction. */
static int ints_of(struct rank *r, int move, int most, int from, int to, int in_place)
{
    if (move == GATHER || move == SCATTER || move == ALLGATHER || move == ALLTOALL)
        return most;
    int number = move == GATHERV || move == ALLGATHERV ? 3 * from : move == SCATTERV ? 5 * to : in_place ? from * to + from + to : 3 * from + 5 * to;
    return 2 * (int)(((r->random >> 7) + (uint64_t)number) % (uint64_t)(most / 2 + 1));
}

static void make_side(struct rank *r, struct side *s, void *data, int shape, int move, int most, int own, int size, int sends, int in_place)
{
    const MPI_Datatype types[] = {MPI_INT, r->pairs, r->two};
    static const int extents[] = {4, 8, 8}, ints[] = {1, 1, 2};
    int at = 0;

    s->data = data;
    s->type = types[shape];
    for (int i = 0; i < size; i++) {
        int here = move == ALLTOALLW ? (shape + i) % 3 : shape;
        int n = sends ? ints_of(r, move, most, own, i, in_place) : ints_of(r, move, most, i, own, in_place);
        s->types[i] = types[here];
        s->counts[i] = n / ints[here];
        s->displacements[i] = move == ALLTOALLW ? at : at / extents[here];
        at += (s->counts[i] + i % 2) * extents[here]; /* some blocks have a gap behind them */
        at += move == ALLTOALLW ? 4 : 0;
    }
    s->count = s->counts[own];
}

static void move(struct rank *r, MPI_Comm comm, int size)
{
    int call = (int)draw(r, MOVES), root = (int)draw(r, (uint64_t)size), shapes = (int)draw(r, 9), in_place = (int)draw(r, 3) == 0, own;
    int most = (int)length(r) / (2 * size) * 2, rooted = call <= SCATTERV;
    struct side from, to;

    MPI_Comm_rank(comm, &own);
    most = most > MOST / size - 4 ? MOST / size / 2 * 2 - 4 : most;
    for (int i = 0; i < 2 * MOST; i++)
        ((int *)r->in)[i] = (int)(r->random >> 9) + i * 64 + own;
    memset(r->out, 0x55, MOST * 8);
    make_side(r, &from, r->in, (shapes + own) % 3, call, most, own, size, 1, in_place);
    int alike = call == ALLGATHERV; /* in MPICH 4.0.2, ranks that receive much by different datatypes fail */
    make_side(r, &to, r->out, (shapes / 3 + (alike ? 0 : own)) % 3, call, most, own, size, 0, in_place);
    in_place = in_place && (!rooted || own == root);
    if (in_place)
        memcpy(r->out, r->in, MOST * 8);
    const void *in = in_place && call != SCATTER && call != SCATTERV ? MPI_IN_PLACE : from.data;
    void *out = in_place && (call == SCATTER || call == SCATTERV) ? MPI_IN_PLACE : to.data;
    if (call == GATHER)
        MPI_Gather(in, from.count, from.type, out, to.count, to.type, root, comm);
    else if (call == GATHERV)
        MPI_Gatherv(in, from.count, from.type, out, to.counts, to.displacements, to.type, root, comm);
    else if (call == SCATTER)
        MPI_Scatter(in, from.count, from.type, out, to.count, to.type, root, comm);
    else if (call == SCATTERV)
        MPI_Scatterv(in, from.counts, from.displacements, from.type, out, to.count, to.type, root, comm);
    else if (call == ALLGATHER)
        MPI_Allgather(in, from.count, from.type, out, to.count, to.type, comm);
    else if (call == ALLGATHERV)
        MPI_Allgatherv(in, from.count, from.type, out, to.counts, to.displacements, to.type, comm);
    else if (call == ALLTOALL)
        MPI_Alltoall(in, from.count, from.type, out, to.count, to.type, comm);
    else if (call == ALLTOALLV)
        MPI_Alltoallv(in, from.counts, from.displacements, from.type, out, to.counts, to.displacements, to.type, comm);
    else
        MPI_Alltoallw(in, from.counts, from.displacements, from.types, out, to.counts, to.displacements, to.types, comm);
    add(r, r->out, MOST * 8);
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
    uint64_t what = draw(r, 28);
    int size;

    if (what == 26) {
        barrier_that_sends(r);
        draw(r, 2);
        return;
    }
    if (what == 27) {
        start_message(r);
        comm = MPI_COMM_WORLD;
    }
    if (comm != MPI_COMM_NULL) {
        uint64_t before = r->random; /* ranks without the communicator draw no less */
        MPI_Comm_size(comm, &size);
        if (what < 3 || what == 27)
            MPI_Barrier(comm);
        else if (what < 8)
            bcast(r, comm, size);
        else if (what < 16)
            reduction(r, comm, size);
        else
            move(r, comm, size);
        r->random = before;
    }
    if (what == 27)
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
    MPI_Type_contiguous(2, MPI_INT, &r.two);
    MPI_Type_commit(&r.two);
    MPI_Op_create(add_ints, 1, &r.add);
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
    MPI_Type_free(&r.two);
    MPI_Op_free(&r.add);
    MPI_Finalize();
    printf("rank %d: %016llx\n", r.rank, (unsigned long long)r.sum);
    fflush(stdout);
}
