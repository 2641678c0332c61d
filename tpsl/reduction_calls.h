/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The MPI functions of reductions.c, for counts of type COUNT. NAME says what a function is called.
 */

/* Serves the call if the rank has a seat, and otherwise, or if an operation refuses, goes on. */
#define SERVE(seat, served, operation)                                                                              \
    struct tpsl_collectives *c = my_state();                                                                        \
    struct tpsl_seat *s = seat(c, comm);                                                                            \
    int rc = s ? tpsl_report(c, comm, (served) ? (operation) : tpsl_abstain(s, r.what)) : NOT_SERVED;                \
    if (rc != NOT_SERVED)                                                                                           \
        return rc

static int NAME(Reduce)(const void *from, void *to, COUNT n, handle type, handle op, int root, handle comm)
{
    struct reduction r = {.what = {.call = REDUCE, .root = (uint8_t)root}};
    SERVE(tpsl_seat_over_processes,
          root >= 0 && root < tpsl_ranks_of(s) && (s->rank == tpsl_member_of(s, root) ? to != NULL : from != IN_PLACE) &&
              is_served(&r, n, type, op, from, s->rank == tpsl_member_of(s, root) ? to : NULL),
          reduce(s, &r, root));
    return LIBRARY(c, NAME(Reduce))(from, to, n, type, op, root, comm);
}

static int NAME(Allreduce)(const void *from, void *to, COUNT n, handle type, handle op, handle comm)
{
    struct reduction r = {.what.call = ALLREDUCE};
    SERVE(tpsl_seat_over_processes, to && is_served(&r, n, type, op, from, to), allreduce(s, &r));
    return LIBRARY(c, NAME(Allreduce))(from, to, n, type, op, comm);
}

/* Adds up the counts, and those of the ranks before this one. False: one is negative. */
static bool NAME(add_up)(const struct tpsl_seat *s, const COUNT counts[], int64_t *sum, size_t *before)
{
    bool right = true;
    for (int i = *sum = 0; right && i < s->team->size; i++) {
        *before = i == s->rank ? (size_t)*sum : *before;
        right = counts[i] >= 0;
        *sum += counts[i];
    }
    return right;
}

static int NAME(Reduce_scatter)(const void *from, void *to, const COUNT counts[], handle type, handle op, handle comm)
{
    struct reduction r = {.what.call = REDUCE_SCATTER};
    int64_t sum = 0;
    size_t first = 0;
    SERVE(tpsl_seat_in, counts && NAME(add_up)(s, counts, &sum, &first) && (to || (counts[s->rank] == 0 && from != IN_PLACE)) && is_served(&r, sum, type, op, from, to),
          reduce_scatter(s, &r, first, (size_t)counts[s->rank]));
    return LIBRARY(c, NAME(Reduce_scatter))(from, to, counts, type, op, comm);
}

static int NAME(Reduce_scatter_block)(const void *from, void *to, COUNT n, handle type, handle op, handle comm)
{
    struct reduction r = {.what.call = REDUCE_SCATTER_BLOCK};
    SERVE(tpsl_seat_in, to && is_served(&r, (int64_t)n * s->team->size, type, op, from, to), reduce_scatter(s, &r, (size_t)n * (size_t)s->rank, (size_t)n));
    return LIBRARY(c, NAME(Reduce_scatter_block))(from, to, n, type, op, comm);
}

static int NAME(Scan)(const void *from, void *to, COUNT n, handle type, handle op, handle comm)
{
    struct reduction r = {.what.call = SCAN};
    SERVE(tpsl_seat_in, to && is_served(&r, n, type, op, from, to), scan(s, &r));
    return LIBRARY(c, NAME(Scan))(from, to, n, type, op, comm);
}

static int NAME(Exscan)(const void *from, void *to, COUNT n, handle type, handle op, handle comm)
{
    struct reduction r = {.what.call = EXSCAN};
    SERVE(tpsl_seat_in, to && is_served(&r, n, type, op, from, to), scan(s, &r));
    return LIBRARY(c, NAME(Exscan))(from, to, n, type, op, comm);
}

#undef SERVE
