// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Collective operations between ranks that are all threads of this process, by load and store (docs/collectives.md).
 *
 * The functions stand in front of the MPI library's own (loader.Config, Wrappers), so every way into the library leads
 * through them: the stubs, Fortran, and private libraries. They serve what is listed here. Everything else they pass on.
 *
 * All ranks of a communicator have to make the same choice. It depends on the communicator, the operation and the number of
 * bytes alone, which are the same at all ranks of a right program, and never on a datatype or a buffer of one rank.
 */
#include "dispatch.h"
#include "fold.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

/* Of MPICH's mpi.h. */
typedef int handle;
enum {
    SUCCESS = 0,
    ERR_TRUNCATE = 14,
    COMM_WORLD = 0x44000000,
    COMM_SELF = 0x44000001,
    COMM_NULL = 0x04000000,
    TYPE_BYTE = 0x4c00010d,
    UNDEFINED = -32766,
    INVALID_KEY = 0x24000000,
};
#define IN_PLACE ((void *)-1)
#define STATUS_IGNORE ((void *)1)

/* Functions of a rank's MPI library, without its wrappers. */
#define FUNCTIONS(FUNCTION)                                                                    \
    FUNCTION(Comm_call_errhandler, (handle, int))                                              \
    FUNCTION(Comm_create_keyval, (void *, int (*)(handle, int, void *, void *), int *, void *)) \
    FUNCTION(Comm_free_keyval, (int *))                                                        \
    FUNCTION(Comm_get_attr, (handle, int, void *, int *))                                      \
    FUNCTION(Comm_set_attr, (handle, int, void *))                                             \
    FUNCTION(Comm_group, (handle, handle *))                                                   \
    FUNCTION(Comm_rank, (handle, int *))                                                       \
    FUNCTION(Comm_size, (handle, int *))                                                       \
    FUNCTION(Comm_test_inter, (handle, int *))                                                 \
    FUNCTION(Grequest_complete, (handle))                                                      \
    FUNCTION(Grequest_start, (void *, void *, void *, void *, handle *))                       \
    FUNCTION(Group_free, (handle *))                                                           \
    FUNCTION(Group_translate_ranks, (handle, int, const int[], handle, int[]))                 \
    FUNCTION(Pack, (const void *, int, handle, void *, int, int *, handle))                    \
    FUNCTION(Test, (handle *, int *, void *))                                                  \
    FUNCTION(Type_size, (handle, int *))                                                       \
    FUNCTION(Unpack, (const void *, int, int *, void *, int, handle, handle))                  \
    FUNCTION(Wait, (handle *, void *))

/* A rank's state. */
struct tpsl_collectives {
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
    int key;        /* of the attribute by which communicators have the rank's seat; a NULL is no seat */
    handle pending; /* a request that nothing completes: a test of it lets the library work */
};

/* The state of the rank for which the calling thread acts; NULL: the library serves it. */
static struct tpsl_collectives *mine(void)
{
    return tpsl_self ? tpsl_self->collectives : NULL;
}

static void progress(void *state)
{
    struct tpsl_collectives *c = state;
    int done;
    c->Test(&c->pending, &done, STATUS_IGNORE);
}

/* ---- seats ---- */

static int leave_seat(handle comm, int key, void *seat, void *extra)
{
    if (seat)
        tpsl_seat_leave(seat);
    return SUCCESS;
}

static void *must_have(void *memory)
{
    if (!memory)
        tpsl_die(1, "no memory for collective operations; TPSL_COLLECTIVES=library takes none");
    return memory;
}

static bool in_this_process(int world_rank)
{
    for (int i = 0; i < tpsl_endpoints_count(); i++)
        if (tpsl_endpoint_at(i)->rank == world_rank)
            return true;
    return false;
}

/* Whether all members are ranks of this process. All of them come to the same answer, without a word to each other. */
static bool all_are_here(struct tpsl_collectives *c, handle comm, int size)
{
    handle group, world;
    int *ranks = must_have(calloc(2 * (size_t)size, sizeof *ranks)), *in_world = ranks + size;
    bool here = true;

    for (int i = 0; i < size; i++)
        ranks[i] = i;
    c->Comm_group(comm, &group);
    c->Comm_group(COMM_WORLD, &world);
    c->Group_translate_ranks(group, size, ranks, world, in_world);
    for (int i = 0; here && i < size; i++)
        here = in_world[i] != UNDEFINED && in_this_process(in_world[i]);
    c->Group_free(&group);
    c->Group_free(&world);
    free(ranks);
    return here;
}

/* The library itself brings the members together the first time. */
static struct tpsl_seat *take_seat(struct tpsl_collectives *c, handle comm)
{
    int (*bcast)(void *, int, handle, int, handle) = tpsl_wrapped("PMPI_Bcast");
    struct tpsl_seat *seat = NULL;
    struct tpsl_team *team = NULL;
    int inter = 0, size = 1, rank = 0;

    c->Comm_test_inter(comm, &inter);
    c->Comm_size(comm, &size);
    if (!inter && size > 1 && all_are_here(c, comm, size)) {
        c->Comm_rank(comm, &rank);
        if (rank == 0)
            team = must_have(tpsl_team_make(size));
        bcast(&team, sizeof team, TYPE_BYTE, 0, comm);
        seat = must_have(calloc(1, sizeof *seat));
        *seat = (struct tpsl_seat){.team = team, .rank = rank, .progress = progress, .library = c};
    }
    c->Comm_set_attr(comm, c->key, seat);
    return seat;
}

/* The rank's seat in the team of a communicator; NULL: the library serves it, or says what is wrong with it. */
static struct tpsl_seat *seat_in(struct tpsl_collectives *c, handle comm)
{
    const unsigned int kind = 0x3c000000, communicator = 0x04000000;
    struct tpsl_seat *seat;
    int found;

    if (!c || ((unsigned int)comm & kind) != communicator || comm == COMM_NULL)
        return NULL;
    if (c->Comm_get_attr(comm, c->key, &seat, &found) != SUCCESS)
        return NULL;
    return found ? seat : take_seat(c, comm);
}

/* ---- a rank's begin and end ---- */

/* Whether the library packs data as it lies in memory. */
static bool packs_plainly(struct tpsl_collectives *c)
{
    const int type_int = 0x4c000405, type_double = 0x4c00080b;
    int i = 0x01020304, at = 0;
    double d = -1.5;
    unsigned char packed[64], plain[sizeof i + sizeof d];

    memcpy(plain, &i, sizeof i);
    memcpy(plain + sizeof i, &d, sizeof d);
    return c->Pack(&i, 1, type_int, packed, sizeof packed, &at, COMM_SELF) == SUCCESS &&
           c->Pack(&d, 1, type_double, packed, sizeof packed, &at, COMM_SELF) == SUCCESS && at == sizeof plain &&
           memcmp(packed, plain, sizeof plain) == 0;
}

static int ignore_query(void *extra, void *status) { return SUCCESS; }
static int ignore_free(void *extra) { return SUCCESS; }
static int ignore_cancel(void *extra, int complete) { return SUCCESS; }
static int copy_no_seat(handle comm, int key, void *extra, void *seat, void *to, int *flag)
{
    *flag = 0;
    return SUCCESS;
}

void tpsl_collectives_start(struct tpsl_endpoint *ep)
{
    const struct tpsl_libraries *l = ep->job->libraries;
    if (!l->collectives || l->standard || !tpsl_many())
        return;
    struct tpsl_collectives *c = must_have(calloc(1, sizeof *c));
#define FIND(name, parameters)                                               \
    c->name = tpsl_instance_symbol(ep->instance, "PMPI_" #name, NULL); \
    if (!c->name)                                                            \
        tpsl_die(1, "TPSL_COLLECTIVES=memory: the MPI library %s has no PMPI_" #name, tpsl_instance_file(ep->instance));
    FUNCTIONS(FIND)
#undef FIND
    if (!packs_plainly(c)) {
        free(c);
        return;
    }
    c->Comm_create_keyval(copy_no_seat, leave_seat, &c->key, NULL);
    c->Grequest_start(ignore_query, ignore_free, ignore_cancel, NULL, &c->pending);
    ep->collectives = c;
}

/* Communicators may keep their seats until MPI_Finalize frees them. */
void tpsl_collectives_end(struct tpsl_endpoint *ep)
{
    struct tpsl_collectives *c = ep->collectives;
    if (!c)
        return;
    ep->collectives = NULL;
    c->Comm_free_keyval(&c->key);
    c->Grequest_complete(c->pending);
    c->Wait(&c->pending, STATUS_IGNORE);
    free(c);
}

/* ---- data ---- */

static bool is_predefined(handle type)
{
    return (unsigned int)type >> 24 == 0x4c;
}

/* A buffer as bytes in a row. */
struct row {
    void *address;
    size_t bytes;
    bool packed; /* the address is of memory of its own */
};

/* False: the library says what is wrong with the arguments. */
static bool measure(struct tpsl_collectives *c, struct row *r, void *buffer, int count, handle type)
{
    int size = (int)((unsigned int)type >> 8 & 0xff);
    *r = (struct row){.address = buffer, .packed = !is_predefined(type)};
    if (count < 0 || (count > 0 && !buffer && !r->packed))
        return false;
    if (r->packed && c->Type_size(type, &size) != SUCCESS)
        return false;
    r->bytes = (size_t)count * (size_t)size;
    return r->bytes <= INT32_MAX; /* what MPI_Pack can count, whoever calls it */
}

static bool pack(struct tpsl_collectives *c, struct row *r, const void *buffer, int count, handle type)
{
    int at = 0;
    if (!r->packed)
        return true;
    r->address = must_have(malloc(r->bytes));
    if (!buffer)
        return true;
    if (c->Pack(buffer, count, type, r->address, (int)r->bytes, &at, COMM_SELF) == SUCCESS)
        return true;
    free(r->address);
    return false;
}


/* ---- operations ---- */

/* In a post: data, or where it is. */
struct source {
    size_t bytes;
    union {
        const void *address;
        unsigned char data[TPSL_POST_BYTES - sizeof(size_t)];
    };
};
enum { IN_POST = sizeof((struct source *)NULL)->data };

static void post_source(struct tpsl_seat *s, const struct row *r)
{
    struct source *p = tpsl_team_post(s);
    p->bytes = r->bytes;
    if (r->bytes <= IN_POST)
        memcpy(p->data, r->address, r->bytes);
    else
        p->address = r->address;
    tpsl_team_publish(s);
}

static void nothing(struct tpsl_seat *s, void *to, const void *data) {}

static void barrier(struct tpsl_seat *s)
{
    tpsl_team_begin(s);
    tpsl_team_publish(s);
    tpsl_team_meet(s, nothing, NULL, NULL, 0);
    tpsl_team_end(s);
}

int tpsl_MPI_Barrier(handle comm)
{
    struct tpsl_seat *s = seat_in(mine(), comm);
    if (!s) {
        int (*library)(handle) = tpsl_wrapped("PMPI_Barrier");
        return library(comm);
    }
    barrier(s);
    return SUCCESS;
}

/* The root copies parts to members that it has nothing to wait for, and they copy the other parts themselves. */
static void give(struct tpsl_seat *s, const struct row *r)
{
    tpsl_team_begin(s);
    post_source(s, r);
    for (int i = 0; r->bytes > IN_POST && i < s->team->size; i++) {
        if (i == s->rank)
            continue;
        const struct source *to = tpsl_team_read(s, i);
        tpsl_team_copy(s, i, (void *)to->address, r->address, to->bytes);
    }
    for (int i = 0; r->bytes > IN_POST && i < s->team->size; i++)
        if (i != s->rank)
            tpsl_team_await(s, i);
    tpsl_team_end(s);
}

/* Returns how many bytes the root has. */
static size_t take(struct tpsl_seat *s, int root, const struct row *r)
{
    tpsl_team_begin(s);
    const struct source *from = tpsl_team_read(s, root);
    size_t has = from->bytes, bytes = has < r->bytes ? has : r->bytes;
    if (has <= IN_POST)
        memcpy(r->address, from->data, bytes);
    else {
        struct source *to = tpsl_team_post(s);
        *to = (struct source){.bytes = bytes, .address = r->address};
        tpsl_team_open_parts(s);
        tpsl_team_publish(s);
        tpsl_team_copy(s, s->rank, r->address, from->address, bytes);
    }
    tpsl_team_end(s);
    return has;
}

int tpsl_MPI_Bcast(void *buffer, int count, handle type, int root, handle comm)
{
    struct tpsl_collectives *c = mine();
    struct tpsl_seat *s = seat_in(c, comm);
    struct row r;
    int rc = SUCCESS, at = 0;

    if (!s || root < 0 || root >= s->team->size || !measure(c, &r, buffer, count, type) || !pack(c, &r, s->rank == root ? buffer : NULL, count, type)) {
        int (*library)(void *, int, handle, int, handle) = tpsl_wrapped("PMPI_Bcast");
        return library(buffer, count, type, root, comm);
    }
    if (s->rank == root)
        give(s, &r);
    else if (take(s, root, &r) > r.bytes) {
        c->Comm_call_errhandler(comm, ERR_TRUNCATE);
        rc = ERR_TRUNCATE;
    } else if (r.packed)
        rc = c->Unpack(r.address, (int)r.bytes, &at, buffer, count, type, comm);
    if (r.packed)
        free(r.address);
    return rc;
}

/* A reduction: its operation, and the arguments of this member. */
struct reduction {
    tpsl_fold *fold;
    size_t width; /* bytes of an element */
    size_t n;     /* elements */
    const void *in;
    void *out; /* NULL: this member gets no result */
};

/* Folds the posts of all members, in their order. */
static void fold_posts(struct tpsl_seat *s, void *to, const void *data)
{
    const struct reduction *r = data;
    r->fold(to, tpsl_team_read(s, 0), tpsl_team_read(s, 1), r->n);
    for (int i = 2; i < s->team->size; i++)
        r->fold(to, to, tpsl_team_read(s, i), r->n);
}

/* Where a member's elements are, or where it wants the result. */
struct place {
    const char *in;
    char *out;
};

static const struct place *place_of(struct tpsl_seat *s, int member)
{
    return tpsl_team_read(s, member);
}

static void post_place(struct tpsl_seat *s, const struct reduction *r)
{
    *(struct place *)tpsl_team_post(s) = (struct place){r->in, r->out};
    tpsl_team_publish(s);
}

/* The elements of all that a member folds: a slice of its own, which ends where cache lines do. */
static size_t slice_begin(const struct tpsl_seat *s, const struct reduction *r, int member)
{
    size_t lines = (r->n * r->width + TPSL_CACHE_LINE - 1) / TPSL_CACHE_LINE;
    size_t first = lines * (size_t)member / (size_t)s->team->size * TPSL_CACHE_LINE / r->width;
    return first < r->n ? first : r->n;
}

/* Folds the member's slice into memory at `out`, which is as long as all. It may be the memory of one of the inputs: an element is
 * written when all of its inputs have been read. */
static void fold_slice(struct tpsl_seat *s, const struct reduction *r, char *out)
{
    enum { BLOCK = 4096 }; /* bytes, which stay in the cache */
    _Alignas(TPSL_CACHE_LINE) char sum[BLOCK];
    size_t end = slice_begin(s, r, s->rank + 1), most = BLOCK / r->width;
    int last = s->team->size - 1;

    for (size_t i = slice_begin(s, r, s->rank), n; i < end; i += n) {
        size_t at = i * r->width;
        n = end - i < most ? end - i : most;
        const void *folded = place_of(s, 0)->in + at;
        for (int m = 1; m < last; m++) {
            r->fold(sum, folded, place_of(s, m)->in + at, n);
            folded = sum;
        }
        r->fold(out + at, folded, place_of(s, last)->in + at, n);
    }
}

/* Each member gets the slices of the others. */
static void collect_slices(struct tpsl_seat *s, const struct reduction *r)
{
    for (int k = 1; k < s->team->size; k++) {
        int member = (s->rank + k) % s->team->size;
        size_t begin = slice_begin(s, r, member) * r->width, end = slice_begin(s, r, member + 1) * r->width;
        memcpy((char *)r->out + begin, place_of(s, member)->out + begin, end - begin);
    }
}

static void allreduce(struct tpsl_seat *s, const struct reduction *r)
{
    tpsl_team_begin(s);
    if (r->n * r->width <= TPSL_POST_BYTES) {
        memcpy(tpsl_team_post(s), r->in, r->n * r->width);
        tpsl_team_publish(s);
        tpsl_team_meet(s, fold_posts, r, r->out, r->n * r->width);
        tpsl_team_end(s);
        return;
    }
    post_place(s, r);
    fold_slice(s, r, r->out);
    tpsl_team_end(s);
    tpsl_team_begin(s);
    post_place(s, r); /* its slice is there */
    collect_slices(s, r);
    tpsl_team_end(s);
    barrier(s); /* nobody needs the member's memory any more */
}

static void reduce(struct tpsl_seat *s, const struct reduction *r, int root)
{
    tpsl_team_begin(s);
    if (r->n * r->width <= TPSL_POST_BYTES) {
        memcpy(tpsl_team_post(s), r->in, r->n * r->width);
        tpsl_team_publish(s);
        if (r->out)
            fold_posts(s, r->out, r);
        tpsl_team_end(s);
        return;
    }
    post_place(s, r);
    fold_slice(s, r, place_of(s, root)->out);
    tpsl_team_end(s);
    barrier(s);
}

/* Whether the team can do a reduction. The arguments have to be the same at all members, but for the buffers: a member with
 * wrong ones learns it from the library. */
static bool can_reduce(struct tpsl_seat *s, struct reduction *r, int count, handle type, handle op)
{
    r->fold = s ? tpsl_fold_of(op, type) : NULL;
    r->width = (unsigned int)type >> 8 & 0xff;
    r->n = (size_t)count;
    return r->fold && count > 0 && r->in && r->in != r->out;
}

int tpsl_MPI_Allreduce(const void *from, void *to, int count, handle type, handle op, handle comm)
{
    struct tpsl_seat *s = seat_in(mine(), comm);
    struct reduction r = {.in = from, .out = to};
    if (!to || !can_reduce(s, &r, count, type, op)) {
        int (*library)(const void *, void *, int, handle, handle, handle) = tpsl_wrapped("PMPI_Allreduce");
        return library(from, to, count, type, op, comm);
    }
    r.in = from == IN_PLACE ? to : from;
    allreduce(s, &r);
    return SUCCESS;
}

int tpsl_MPI_Reduce(const void *from, void *to, int count, handle type, handle op, int root, handle comm)
{
    struct tpsl_seat *s = seat_in(mine(), comm);
    bool gets = s && s->rank == root;
    struct reduction r = {.in = from, .out = gets ? to : NULL};
    bool wrong = gets ? !to : from == IN_PLACE;
    if (!s || root < 0 || root >= s->team->size || wrong || !can_reduce(s, &r, count, type, op)) {
        int (*library)(const void *, void *, int, handle, handle, int, handle) = tpsl_wrapped("PMPI_Reduce");
        return library(from, to, count, type, op, root, comm);
    }
    r.in = from == IN_PLACE ? to : from;
    reduce(s, &r, root);
    return SUCCESS;
}
