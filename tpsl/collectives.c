// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Collective operations between ranks that are all threads of this process, by load and store (docs/collectives.md).
 *
 * The functions stand in front of the MPI library's own (loader.Config, Wrappers), so every way into the library leads
 * through them: the stubs, Fortran, and private libraries. They serve what is listed here. Everything else they pass on.
 *
 * All ranks of a communicator have to make the same choice. It depends on what is the same at all ranks of a right program: the
 * communicator, the operation and the number of bytes; in a reduction also the datatype and what it does. In a broadcast the
 * datatypes may differ.
 */
#include "dispatch.h"
#include "fold.h"
#include "team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of MPICH's mpi.h. */
typedef int handle;
enum {
    SUCCESS = 0,
    ERR_TYPE = 3,
    ERR_TRUNCATE = 14,
    COMM_WORLD = 0x44000000,
    COMM_SELF = 0x44000001,
    COMM_NULL = 0x04000000,
    TYPE_BYTE = 0x4c00010d,
    TYPE_NULL = 0x0c000000,
    TYPE_PACKED = 0x4c00010f,
    ERRORS_RETURN = 0x54000001,
    UNDEFINED = -32766,
};
#define IN_PLACE ((void *)-1)
#define STATUS_IGNORE ((void *)1)

/* Functions of a rank's MPI library, without its wrappers. */
#define FUNCTIONS(FUNCTION)                                                                    \
    FUNCTION(Allreduce, (const void *, void *, int, handle, handle, handle))                   \
    FUNCTION(Barrier, (handle))                                                                \
    FUNCTION(Bcast, (void *, int, handle, int, handle))                                        \
    FUNCTION(Comm_call_errhandler, (handle, int))                                              \
    FUNCTION(Comm_dup, (handle, handle *))                                                     \
    FUNCTION(Comm_free, (handle *))                                                            \
    FUNCTION(Comm_set_errhandler, (handle, handle))                                            \
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
    FUNCTION(Reduce, (const void *, void *, int, handle, handle, int, handle))                 \
    FUNCTION(Request_get_status, (handle, int *, void *))                                      \
    FUNCTION(Sendrecv, (const void *, int, handle, int, int, void *, int, handle, int, int, handle, void *)) \
    FUNCTION(Type_size, (handle, int *))                                                       \
    FUNCTION(Wait, (handle *, void *))

/* A rank's state. */
struct tpsl_collectives {
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
    int key;        /* of the attribute by which communicators have the rank's seat; a NULL is no seat */
    int end_key;    /* of the attribute of MPI_COMM_SELF by which MPI_Finalize ends this */
    pthread_mutex_t converting;
    handle self;    /* a communicator of the rank alone, for messages that no receive of the program takes */
    handle pending; /* a request that nothing completes: a look at it lets the library work */
};

/* The function behind a wrapper, found by its name. */
static void *behind(const char *name)
{
    void *function = tpsl_wrapped(name);
    if (!function)
        tpsl_die(1, "%s was called by a thread that acts for no rank; TPSL_Adopt gives it one, or set TPSL_COLLECTIVES=library", name + 1);
    return function;
}

/* The same for a rank with or without state. */
#define LIBRARY(c, name) ((c) ? (c)->name : (typeof((c)->name))behind("PMPI_" #name))

/* The state of the rank for which the calling thread acts; NULL: the library serves it. */
static struct tpsl_collectives *my_state(void)
{
    return tpsl_self ? tpsl_self->collectives : NULL;
}

static void progress(void *state)
{
    struct tpsl_collectives *c = state;
    int done;
    c->Request_get_status(c->pending, &done, STATUS_IGNORE); /* several threads of a rank may ask at once */
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

/* For functions that fail only if something is wrong with the library or with us. */
static void must_succeed(int rc)
{
    if (rc != SUCCESS)
        tpsl_die(1, "rank %d: the MPI library fails (error %d) while collective operations are prepared; set TPSL_COLLECTIVES=library", tpsl_self->rank, rc);
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
    must_succeed(c->Comm_group(comm, &group));
    must_succeed(c->Comm_group(COMM_WORLD, &world));
    must_succeed(c->Group_translate_ranks(group, size, ranks, world, in_world));
    for (int i = 0; here && i < size; i++)
        here = in_world[i] != UNDEFINED && in_this_process(in_world[i]);
    c->Group_free(&group);
    c->Group_free(&world);
    free(ranks);
    return here;
}

/* What a member calls, as the others compare it. The root's number and the number of elements are cut to these bits. */
enum call { BARRIER, BCAST, REDUCE, ALLREDUCE, CALLS };
union what {
    uint64_t word;
    struct {
        uint8_t call, operation, width, root;
        uint32_t elements;
    };
};

static const char *describe(char *text, size_t size, uint64_t word)
{
    static const char *const names[CALLS] = {"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce"};
    union what w = {.word = word};
    int n = snprintf(text, size, "%s", w.call < CALLS ? names[w.call] : "?");
    if (w.width)
        n += snprintf(text + n, size - (size_t)n, " of %u elements of %u bytes by operation %u", w.elements, w.width, w.operation);
    if (w.call == BCAST || w.call == REDUCE)
        snprintf(text + n, size - (size_t)n, " with root %u", w.root);
    return text;
}

static void differs(struct tpsl_seat *s, int member, uint64_t call)
{
    char own[128], other[128];
    tpsl_die(1, "ranks %d and %d of one communicator, of which the first is rank %d of the job, call different collective operations: %s, and %s", s->rank, member,
             tpsl_self->rank, describe(own, sizeof own, s->call), describe(other, sizeof other, call));
}

/* The library itself brings the members together the first time. */
static struct tpsl_seat *take_seat(struct tpsl_collectives *c, handle comm)
{
    struct tpsl_seat *seat = NULL;
    struct tpsl_team *team = NULL;
    int inter = 0, size = 1, rank = 0;

    must_succeed(c->Comm_test_inter(comm, &inter));
    must_succeed(c->Comm_size(comm, &size));
    if (!inter && size > 1 && all_are_here(c, comm, size)) {
        must_succeed(c->Comm_rank(comm, &rank));
        if (rank == 0)
            team = must_have(tpsl_team_make(size));
        must_succeed(c->Bcast(&team, sizeof team, TYPE_BYTE, 0, comm));
        seat = must_have(calloc(1, sizeof *seat));
        *seat = (struct tpsl_seat){.team = team, .rank = rank, .crowded = tpsl_self->job->libraries->yields, .progress = progress, .library = c, .differs = differs};
    }
    must_succeed(c->Comm_set_attr(comm, c->key, seat));
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

/* Copies from one datatype to another, which may be MPI_PACKED, by a message to itself: MPI_Pack refuses MPI_BOTTOM. */
static bool convert(struct tpsl_collectives *c, const void *from, int nfrom, handle from_type, void *to, int nto, handle to_type)
{
    pthread_mutex_lock(&c->converting); /* another thread of the rank could receive what this one sends */
    int rc = c->Sendrecv(from, nfrom, from_type, 0, 0, to, nto, to_type, 0, 0, c->self, STATUS_IGNORE);
    pthread_mutex_unlock(&c->converting);
    return rc == SUCCESS;
}

/* Whether packed data lie as those of a predefined type do. */
static bool packs_plainly(struct tpsl_collectives *c)
{
    const int type_int = 0x4c000405, ints[3] = {1, -2, 0x01020304};
    int packed[3] = {0};

    return convert(c, ints, 3, type_int, packed, sizeof packed, TYPE_PACKED) && memcmp(packed, ints, sizeof ints) == 0;
}

/* Whether buffers may be in the memory of an accelerator, which no load reads. */
static bool knows_accelerators(const struct tpsl_endpoint *ep)
{
    static const char *const questions[] = {"MPIX_Query_cuda_support", "MPIX_Query_hip_support", "MPIX_Query_ze_support"};
    bool known = false;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        int (*ask)(void) = tpsl_instance_symbol(ep->instance, questions[i], NULL);
        known |= ask && ask();
    }
    return known;
}

static int ignore_query(void *extra, void *status) { return SUCCESS; }
static int ignore_free(void *extra) { return SUCCESS; }
static int ignore_cancel(void *extra, int complete) { return SUCCESS; }
static int copy_no_seat(handle comm, int key, void *extra, void *seat, void *to, int *flag)
{
    *flag = 0;
    return SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, the latest first: so this comes after those of the program, whose
 * functions may still call collective operations. Communicators may keep their seats for longer. */
static int end(handle self, int key, void *endpoint, void *extra)
{
    struct tpsl_endpoint *ep = endpoint;
    struct tpsl_collectives *c = ep->collectives;

    ep->collectives = NULL;
    c->Comm_free_keyval(&c->key);
    c->Grequest_complete(c->pending);
    c->Wait(&c->pending, STATUS_IGNORE);
    c->Comm_free(&c->self);
    free(c);
    return SUCCESS;
}

void tpsl_collectives_start(struct tpsl_endpoint *ep)
{
    const struct tpsl_libraries *l = ep->job->libraries;
    if (!l->collectives || l->standard || knows_accelerators(ep))
        return;
    struct tpsl_collectives *c = must_have(calloc(1, sizeof *c));
    pthread_mutex_init(&c->converting, NULL);
#define FIND(name, parameters)                                               \
    c->name = tpsl_instance_symbol(ep->instance, "PMPI_" #name, NULL); \
    if (!c->name)                                                            \
        tpsl_die(1, "TPSL_COLLECTIVES=memory: the MPI library %s has no PMPI_" #name, tpsl_instance_file(ep->instance));
    FUNCTIONS(FIND)
#undef FIND
    must_succeed(c->Comm_dup(COMM_SELF, &c->self));
    must_succeed(c->Comm_set_errhandler(c->self, ERRORS_RETURN));
    if (!packs_plainly(c)) {
        c->Comm_free(&c->self);
        free(c);
        return;
    }
    must_succeed(c->Comm_create_keyval(copy_no_seat, leave_seat, &c->key, NULL));
    must_succeed(c->Grequest_start(ignore_query, ignore_free, ignore_cancel, NULL, &c->pending));
    must_succeed(c->Comm_create_keyval(copy_no_seat, end, &c->end_key, NULL));
    ep->collectives = c;
    must_succeed(c->Comm_set_attr(COMM_SELF, c->end_key, ep));
    must_succeed(c->Comm_free_keyval(&c->end_key));
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

/* False: the library says what is wrong with the arguments. MPI_BOTTOM, which is NULL, is right with types of addresses. */
static bool make_row(struct tpsl_collectives *c, struct row *r, void *buffer, int count, handle type)
{
    int size = (int)((unsigned int)type >> 8 & 0xff);
    *r = (struct row){.address = buffer, .packed = !is_predefined(type)};
    if (count < 0 || (count > 0 && !buffer && !r->packed) || buffer == IN_PLACE || type == TYPE_NULL)
        return false;
    if (r->packed && c->Type_size(type, &size) != SUCCESS)
        return false;
    r->bytes = (size_t)count * (size_t)size;
    return r->bytes <= INT32_MAX; /* what MPI_Pack can count, whoever calls it */
}

/* Gives a row that is packed its memory, and the root's row its data. False: the library says what is wrong with the datatype. */
static bool fill_row(struct tpsl_collectives *c, struct row *r, bool root, const void *buffer, int count, handle type)
{
    if (!r->packed)
        return true;
    r->address = must_have(malloc(r->bytes ? r->bytes : 1));
    if (!root || convert(c, buffer, count, type, r->address, (int)r->bytes, TYPE_PACKED))
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
    tpsl_team_begin(s, (union what){.call = BARRIER}.word);
    tpsl_team_publish(s);
    tpsl_team_meet(s, nothing, NULL, NULL, 0);
    tpsl_team_end(s);
}

int tpsl_MPI_Barrier(handle comm)
{
    struct tpsl_collectives *c = my_state();
    struct tpsl_seat *s = seat_in(c, comm);
    if (!s)
        return LIBRARY(c, Barrier)(comm);
    barrier(s);
    return SUCCESS;
}

/* The root copies parts to members that it has nothing to wait for, and they copy the other parts themselves. */
static void bcast_from(struct tpsl_seat *s, const struct row *r)
{
    tpsl_team_begin(s, (union what){.call = BCAST, .root = (uint8_t)s->rank}.word);
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
static size_t bcast_to(struct tpsl_seat *s, int root, const struct row *r)
{
    tpsl_team_begin(s, (union what){.call = BCAST, .root = (uint8_t)root}.word);
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
    struct tpsl_collectives *c = my_state();
    struct tpsl_seat *s = seat_in(c, comm);
    struct row r;
    int rc = SUCCESS;

    if (!s || root < 0 || root >= s->team->size || !make_row(c, &r, buffer, count, type) ||
        !fill_row(c, &r, s->rank == root, buffer, count, type))
        return LIBRARY(c, Bcast)(buffer, count, type, root, comm);
    if (s->rank == root)
        bcast_from(s, &r);
    else if (bcast_to(s, root, &r) > r.bytes) {
        c->Comm_call_errhandler(comm, ERR_TRUNCATE);
        rc = ERR_TRUNCATE;
    } else if (r.packed && !convert(c, r.address, (int)r.bytes, TYPE_PACKED, buffer, count, type)) {
        rc = ERR_TYPE;
        c->Comm_call_errhandler(comm, rc);
    }
    if (r.packed)
        free(r.address);
    return rc;
}

/* A reduction: its operation, and the arguments of this member. */
struct reduction {
    union what what;
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
    tpsl_team_begin(s, r->what.word);
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
    tpsl_team_begin(s, r->what.word);
    post_place(s, r); /* its slice is there */
    collect_slices(s, r);
    tpsl_team_end(s);
    barrier(s); /* nobody needs the member's memory any more */
}

static void reduce(struct tpsl_seat *s, const struct reduction *r, int root)
{
    tpsl_team_begin(s, r->what.word);
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
    r->what.operation = (uint8_t)op;
    r->what.width = (uint8_t)r->width;
    r->what.elements = (uint32_t)count;
    return r->fold && count > 0 && r->in && r->in != r->out && r->out != IN_PLACE;
}

int tpsl_MPI_Allreduce(const void *from, void *to, int count, handle type, handle op, handle comm)
{
    struct tpsl_collectives *c = my_state();
    struct tpsl_seat *s = seat_in(c, comm);
    struct reduction r = {.what.call = ALLREDUCE, .in = from, .out = to};
    if (!to || !can_reduce(s, &r, count, type, op))
        return LIBRARY(c, Allreduce)(from, to, count, type, op, comm);
    r.in = from == IN_PLACE ? to : from;
    allreduce(s, &r);
    return SUCCESS;
}

int tpsl_MPI_Reduce(const void *from, void *to, int count, handle type, handle op, int root, handle comm)
{
    struct tpsl_collectives *c = my_state();
    struct tpsl_seat *s = seat_in(c, comm);
    bool gets = s && s->rank == root;
    struct reduction r = {.what = {.call = REDUCE, .root = (uint8_t)root}, .in = from, .out = gets ? to : NULL};
    bool wrong = gets ? !to : from == IN_PLACE;
    if (!s || root < 0 || root >= s->team->size || wrong || !can_reduce(s, &r, count, type, op))
        return LIBRARY(c, Reduce)(from, to, count, type, op, root, comm);
    r.in = from == IN_PLACE ? to : from;
    reduce(s, &r, root);
    return SUCCESS;
}

/* The same with counts of 64 bits. Ranks may call either in one operation. */

int tpsl_MPI_Bcast_c(void *buffer, int64_t count, handle type, int root, handle comm)
{
    if (count >= 0 && count <= INT32_MAX)
        return tpsl_MPI_Bcast(buffer, (int)count, type, root, comm);
    int (*library)(void *, int64_t, handle, int, handle) = behind("PMPI_Bcast_c");
    return library(buffer, count, type, root, comm);
}

int tpsl_MPI_Allreduce_c(const void *from, void *to, int64_t count, handle type, handle op, handle comm)
{
    if (count >= 0 && count <= INT32_MAX)
        return tpsl_MPI_Allreduce(from, to, (int)count, type, op, comm);
    int (*library)(const void *, void *, int64_t, handle, handle, handle) = behind("PMPI_Allreduce_c");
    return library(from, to, count, type, op, comm);
}

int tpsl_MPI_Reduce_c(const void *from, void *to, int64_t count, handle type, handle op, int root, handle comm)
{
    if (count >= 0 && count <= INT32_MAX)
        return tpsl_MPI_Reduce(from, to, (int)count, type, op, root, comm);
    int (*library)(const void *, void *, int64_t, handle, handle, int, handle) = behind("PMPI_Reduce_c");
    return library(from, to, count, type, op, root, comm);
}
