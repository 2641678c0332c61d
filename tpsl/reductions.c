// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Collective operations that fold elements of all members, always in the order of their ranks. Few elements go into the posts, and each
 * member that needs a result folds them. For many elements a post says where they are, and each member folds a slice.
 */
#include "fold.h"
#include "hierarchy.h"

#include <stdlib.h>
#include <string.h>

/* A reduction: its operation, and the arguments of this member. */
struct reduction {
    union what what;
    tpsl_fold *fold;
    size_t width; /* bytes of an element */
    size_t n;     /* elements */
    handle type, op;
    const void *in;
    void *out; /* NULL: this member gets no result */
};

/* ---- posts ---- */

static bool fits(const struct reduction *r)
{
    return r->n * r->width <= TPSL_POST_BYTES;
}

/* In a post of many elements: where they are, and where the member wants the result. */
struct place {
    const char *in;
    char *out;
};

static void post(struct tpsl_seat *s, const struct reduction *r)
{
    if (fits(r))
        memcpy(tpsl_team_post(s), r->in, r->n * r->width);
    else
        *(struct place *)tpsl_team_post(s) = (struct place){r->in, r->out};
    tpsl_team_publish(s);
}

static const struct place *place_of(struct tpsl_seat *s, int member)
{
    return tpsl_team_read(s, member);
}

static const char *elements_of(struct tpsl_seat *s, const struct reduction *r, int member)
{
    return fits(r) ? tpsl_team_read(s, member) : place_of(s, member)->in;
}

/* ---- folding ---- */

enum { BLOCK = 4096 }; /* bytes, which stay in the cache */

/* Folds the elements from `begin` on and before `end` of all members. `to` may be where they are at one of them: an element is written
 * when all of its inputs have been read. */
static void fold_range(struct tpsl_seat *s, const struct reduction *r, size_t begin, size_t end, char *to)
{
    _Alignas(TPSL_CACHE_LINE) char sum[BLOCK];
    size_t most = BLOCK / r->width;
    int last = s->team->size - 1;

    if (last == 0)
        memmove(to, elements_of(s, r, 0) + begin * r->width, (end - begin) * r->width);
    for (size_t i = begin, n; last > 0 && i < end; i += n) {
        size_t at = i * r->width;
        n = end - i < most ? end - i : most;
        const void *folded = elements_of(s, r, 0) + at;
        for (int m = 1; m < last; m++) {
            r->fold(sum, folded, elements_of(s, r, m) + at, n);
            folded = sum;
        }
        r->fold(to + (i - begin) * r->width, folded, elements_of(s, r, last) + at, n);
    }
}

/* The elements of all processes, of which leaders have their own one's folded. `to` is NULL if the leader gets no result. */
static int fold_processes(struct tpsl_seat *s, const struct reduction *r, const void *from, void *to, int root)
{
    return tpsl_leaders_reduce(s, &(struct tpsl_elements){r->n, r->width, r->type, r->op}, from, to, root);
}

static int fold_all(struct tpsl_seat *s, void *to, const void *data)
{
    const struct reduction *r = data;
    fold_range(s, r, 0, r->n, to);
    return fold_processes(s, r, to, to, TPSL_NO_ROOT);
}

/* The elements of all that a member folds: a slice of its own, which ends where cache lines do. */
static size_t slice_begin(const struct tpsl_seat *s, const struct reduction *r, int member)
{
    size_t lines = (r->n * r->width + TPSL_CACHE_LINE - 1) / TPSL_CACHE_LINE;
    size_t first = lines * (size_t)member / (size_t)s->team->size * TPSL_CACHE_LINE / r->width;
    return first < r->n ? first : r->n;
}

/* Folds the member's slice into memory that is as long as all. */
static void fold_slice(struct tpsl_seat *s, const struct reduction *r, char *out)
{
    size_t begin = slice_begin(s, r, s->rank);
    fold_range(s, r, begin, slice_begin(s, r, s->rank + 1), out + begin * r->width);
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

/* ---- operations ---- */

/* Ends an operation that nobody can make, as a member abstains. */
static int leave(struct tpsl_seat *s)
{
    tpsl_team_end(s);
    return NOT_SERVED;
}

static int fold_processes_in_place(struct tpsl_seat *s, void *to, const void *data)
{
    const struct reduction *r = data;
    return fold_processes(s, r, r->out, r->out, TPSL_NO_ROOT);
}

/* Many elements: they become those of a process at its leader, and then those of all, which the others copy. */
static int allreduce_over_processes(struct tpsl_seat *s, const struct reduction *r)
{
    char *leaders = place_of(s, 0)->out;
    fold_slice(s, r, leaders);
    tpsl_team_end(s);
    tpsl_team_begin(s, r->what.word);
    tpsl_team_publish(s); /* the member's slice is there */
    int rc = tpsl_team_meet(s, fold_processes_in_place, r, NULL, 0);
    if (rc == SUCCESS && s->rank > 0)
        memcpy(r->out, leaders, r->n * r->width);
    tpsl_team_end(s);
    if (s->rank == 0)
        tpsl_team_await_all(s);
    return rc;
}

static int allreduce(struct tpsl_seat *s, const struct reduction *r)
{
    tpsl_team_begin(s, r->what.word);
    post(s, r);
    if (fits(r)) {
        int rc = tpsl_team_meet(s, fold_all, r, r->out, r->n * r->width);
        tpsl_team_end(s);
        return rc;
    }
    if (!tpsl_team_all_take_part(s))
        return leave(s);
    if (s->hierarchy)
        return allreduce_over_processes(s, r);
    fold_slice(s, r, r->out);
    tpsl_team_end(s);
    tpsl_team_begin(s, r->what.word);
    post(s, r); /* its slice is there */
    collect_slices(s, r);
    tpsl_team_end(s);
    tpsl_barrier(s); /* nobody needs the member's memory any more */
    return SUCCESS;
}

/* What a leader has of a reduction with a root. */
struct led {
    const struct reduction *r;
    void *sums; /* of its process, or room for them */
    void *result; /* where the root wants the result; NULL: it is in another process, or the result fits into an answer */
    int root;
};

static int fold_to_root(struct tpsl_seat *s, void *to, const void *data)
{
    const struct led *l = data;
    if (fits(l->r))
        fold_range(s, l->r, 0, l->r->n, l->sums);
    return fold_processes(s, l->r, l->sums, l->result ? l->result : to, l->root);
}

/* Few elements: only the leader and the root wait for others. */
static int reduce_few_over_processes(struct tpsl_seat *s, const struct reduction *r, int root)
{
    char sums[TPSL_POST_BYTES], result[TPSL_POST_BYTES] = {0};
    int rc = SUCCESS;

    tpsl_team_begin(s, r->what.word);
    post(s, r);
    if (s->rank == 0 || r->out)
        rc = tpsl_team_meet(s, fold_to_root, &(struct led){.r = r, .sums = sums, .root = root}, r->out ? r->out : result, r->n * r->width);
    tpsl_team_end(s);
    return rc;
}

/* Many elements: each member folds a slice for the leader, whose library brings them straight to the root's memory. */
static int reduce_over_processes(struct tpsl_seat *s, const struct reduction *r, int root)
{
    struct reduction own = *r;
    int member = tpsl_member_of(s, root), rc = SUCCESS;
    char *sums = NULL;

    if (s->rank == 0)
        own.out = sums = must_have(malloc(r->n * r->width));
    tpsl_team_begin(s, r->what.word);
    post(s, &own);
    if (!tpsl_team_all_take_part(s)) {
        free(sums);
        return leave(s);
    }
    fold_slice(s, r, place_of(s, 0)->out);
    struct led led = {.r = r, .sums = sums, .result = member > 0 ? place_of(s, member)->out : r->out, .root = root};
    tpsl_team_end(s);
    tpsl_team_begin(s, r->what.word);
    tpsl_team_publish(s);
    if (s->rank == 0 || s->rank == member)
        rc = tpsl_team_meet(s, fold_to_root, &led, NULL, 0);
    else
        tpsl_team_all_take_part(s); /* nobody needs the member's memory any more */
    tpsl_team_end(s);
    free(sums);
    return rc;
}

static int reduce(struct tpsl_seat *s, const struct reduction *r, int root)
{
    if (s->hierarchy)
        return (fits(r) ? reduce_few_over_processes : reduce_over_processes)(s, r, root);
    tpsl_team_begin(s, r->what.word);
    post(s, r);
    bool needs_all = s->rank == root || !fits(r);
    if (needs_all && !tpsl_team_all_take_part(s))
        return leave(s);
    if (!fits(r))
        fold_slice(s, r, place_of(s, root)->out);
    else if (s->rank == root)
        fold_range(s, r, 0, r->n, r->out);
    tpsl_team_end(s);
    if (!fits(r))
        tpsl_barrier(s);
    return SUCCESS;
}

/* The member gets `mine` elements from `first` on. */
static int reduce_scatter(struct tpsl_seat *s, const struct reduction *r, size_t first, size_t mine)
{
    bool in_place = r->in == r->out && !fits(r); /* others read the memory that the result is for */
    char *result = in_place ? must_have(malloc(mine * r->width + 1)) : r->out;

    tpsl_team_begin(s, r->what.word);
    post(s, r);
    bool served = tpsl_team_all_take_part(s);
    if (served)
        fold_range(s, r, first, first + mine, result);
    tpsl_team_end(s);
    if (served && !fits(r))
        tpsl_team_await_all(s);
    if (served && in_place)
        memcpy(r->out, result, mine * r->width);
    if (in_place)
        free(result);
    return served ? SUCCESS : NOT_SERVED;
}

/* Folds elements of members up to `last`. */
static bool scan_posts(struct tpsl_seat *s, const struct reduction *r, int last)
{
    for (int m = 0; m <= last; m++)
        if (!tpsl_team_read(s, m))
            return false;
    if (last >= 0)
        memcpy(r->out, elements_of(s, r, 0), r->n * r->width);
    for (int m = 1; m <= last; m++)
        r->fold(r->out, r->out, elements_of(s, r, m), r->n);
    return true;
}

/* Writes the member's slice of every member's result. */
static void scan_slice(struct tpsl_seat *s, const struct reduction *r)
{
    size_t end = slice_begin(s, r, s->rank + 1), most = BLOCK / r->width;
    for (size_t i = slice_begin(s, r, s->rank), n; i < end; i += n) {
        size_t at = i * r->width;
        n = end - i < most ? end - i : most;
        const char *sum = memmove(place_of(s, 0)->out + at, elements_of(s, r, 0) + at, n * r->width);
        for (int m = 1; m < s->team->size; m++) {
            char *out = place_of(s, m)->out + at;
            r->fold(out, sum, elements_of(s, r, m) + at, n);
            sum = out;
        }
    }
}

/* The same without each member's own elements, which its result may overwrite. */
static void exscan_slice(struct tpsl_seat *s, const struct reduction *r)
{
    _Alignas(TPSL_CACHE_LINE) char sums[2][BLOCK];
    size_t end = slice_begin(s, r, s->rank + 1), most = BLOCK / r->width;
    for (size_t i = slice_begin(s, r, s->rank), n; i < end; i += n) {
        size_t at = i * r->width;
        n = end - i < most ? end - i : most;
        memcpy(sums[0], elements_of(s, r, 0) + at, n * r->width);
        for (int m = 1; m < s->team->size; m++) {
            r->fold(sums[m % 2], sums[(m - 1) % 2], elements_of(s, r, m) + at, n);
            memcpy(place_of(s, m)->out + at, sums[(m - 1) % 2], n * r->width);
        }
    }
}

static int scan(struct tpsl_seat *s, const struct reduction *r)
{
    bool exclusive = r->what.call == EXSCAN, served;
    tpsl_team_begin(s, r->what.word);
    post(s, r);
    if (fits(r)) {
        served = scan_posts(s, r, exclusive ? s->rank - 1 : s->rank);
        tpsl_team_end(s);
        return served ? SUCCESS : NOT_SERVED;
    }
    if (!tpsl_team_all_take_part(s))
        return leave(s);
    (exclusive ? exscan_slice : scan_slice)(s, r);
    tpsl_team_end(s);
    tpsl_barrier(s);
    return SUCCESS;
}

/* ---- the functions ---- */

/* Whether the team makes a reduction of n elements. The arguments have to be the same at all members, but for the buffers. `out` is
 * NULL if the member gets no result. */
static bool is_served(struct reduction *r, int64_t n, handle type, handle op, const void *in, void *out)
{
    r->fold = tpsl_fold_of(op, type, &r->width);
    r->n = (size_t)n;
    r->type = type;
    r->op = op;
    r->in = in == IN_PLACE ? out : in;
    r->out = out;
    r->what.operation = (uint8_t)op;
    r->what.width = (uint8_t)r->width;
    r->what.elements = (uint32_t)n & INT32_MAX;
    return r->fold && n > 0 && in && in != out && out != IN_PLACE;
}

#define NAME(name) name
#define COUNT int
#include "reduction_calls.h"
#undef NAME
#undef COUNT

#define NAME(name) name##_c
#define COUNT int64_t
#include "reduction_calls.h"

#define ENTRY(name) {"MPI_" #name, name}, {"MPI_" #name "_c", name##_c}
const struct tpsl_mpi_wrapper tpsl_reductions[] = {
    ENTRY(Reduce), ENTRY(Allreduce), ENTRY(Reduce_scatter), ENTRY(Reduce_scatter_block), ENTRY(Scan), ENTRY(Exscan),
};
