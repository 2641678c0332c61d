// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Collective operations that move data and change nothing of them. A member posts an offer, and who is to have the data takes them from
 * there. If the data do not fit into the post, the member waits until they are taken.
 */
#include "blocks.h"
#include "hierarchy.h"

#include <stdlib.h>

static int meet_others(struct tpsl_seat *s, void *to, const void *data)
{
    return tpsl_leaders_meet(s);
}

int tpsl_barrier(struct tpsl_seat *s)
{
    tpsl_team_begin(s, (union what){.call = BARRIER}.word);
    tpsl_team_publish(s);
    int rc = tpsl_team_meet(s, meet_others, NULL, NULL, 0);
    tpsl_team_end(s);
    return rc;
}

/* Posts an offer, or abstains. */
static bool post_offer(struct tpsl_collectives *c, struct tpsl_seat *s, const struct tpsl_blocks *b, int n, bool copy, void **memory)
{
    bool offers = tpsl_offer(c, tpsl_team_post(s), b, n, copy, memory);
    if (offers)
        tpsl_team_publish(s);
    else
        tpsl_team_abstain(s);
    return offers;
}

/* ---- broadcasts ---- */

/* The member copies parts to those that it has nothing to wait for, and they copy the other parts themselves. The root's data go to other
 * processes, too. */
static int bcast_from(struct tpsl_collectives *c, struct tpsl_seat *s, int root, const struct tpsl_blocks *b)
{
    const struct tpsl_offer *from = tpsl_team_post(s);
    void *memory;
    bool offers = post_offer(c, s, b, 1, false, &memory), waits = offers && tpsl_lies_elsewhere(tpsl_team_post(s));
    int rc = offers ? SUCCESS : NOT_SERVED;

    if (offers && tpsl_member_of(s, root) == s->rank)
        rc = tpsl_leaders_bcast(s, tpsl_row_of(from), from->bytes, root);
    for (int i = 0; waits && i < s->team->size; i++) {
        const struct tpsl_offer *to = i == s->rank ? NULL : tpsl_team_read(s, i);
        if (to)
            tpsl_team_copy(s, i, (void *)to->address, from->address, to->bytes);
    }
    for (int i = 0; waits && i < s->team->size; i++)
        if (i != s->rank)
            tpsl_team_await(s, i);
    tpsl_team_end(s);
    free(memory);
    return rc;
}

static int post_failure(struct tpsl_seat *s, int rc)
{
    *(struct tpsl_offer *)tpsl_team_post(s) = (struct tpsl_offer){.place = FAILED, .bytes = (unsigned int)rc};
    tpsl_team_publish(s);
    tpsl_team_end(s);
    return rc;
}

/* The leader of a process where the root is not gets the data as bytes in a row, and gives them to its team. */
static int bcast_from_afar(struct tpsl_collectives *c, struct tpsl_seat *s, int root, struct tpsl_block to)
{
    struct tpsl_block row = {.address = to.address, .count = (int64_t)to.bytes, .type = TYPE_BYTE, .bytes = to.bytes};
    void *memory = NULL;
    if (!tpsl_is_row(to.type))
        row.address = memory = must_have(malloc(to.bytes + 1));
    int rc = tpsl_leaders_bcast(s, row.address, row.bytes, root);
    if (rc != SUCCESS)
        rc = post_failure(s, rc);
    else
        rc = bcast_from(c, s, root, &(struct tpsl_blocks){.buffer = row.address, .count = row.count, .type = TYPE_BYTE, .size = 1, .extent = 1});
    if (memory && rc == SUCCESS)
        rc = tpsl_copy_block(c, row, to);
    free(memory);
    return rc;
}

/* A member posts the place for its data, to which the giver may copy, or no bytes. */
static int bcast_to(struct tpsl_collectives *c, struct tpsl_seat *s, int giver, int root, struct tpsl_block to)
{
    const struct tpsl_offer *from = tpsl_team_read(s, giver);
    int rc = NOT_SERVED, passed_on = from ? tpsl_leaders_bcast(s, tpsl_row_of(from), from->bytes, root) : SUCCESS;

    if (from && from->place == IN_ROW) {
        struct tpsl_offer *place = tpsl_team_post(s);
        size_t bytes = from->bytes < to.bytes ? from->bytes : to.bytes;
        bool row = tpsl_is_row(to.type);
        *place = (struct tpsl_offer){.bytes = row ? bytes : 0, .place = IN_ROW, .address = to.address};
        tpsl_team_open_parts(s);
        tpsl_team_publish(s);
        tpsl_team_copy(s, s->rank, to.address, from->address, place->bytes);
        rc = row ? (from->bytes > bytes ? ERR_TRUNCATE : SUCCESS) : tpsl_take(c, from, 0, to);
    } else if (from)
        rc = tpsl_take(c, from, 0, to);
    tpsl_team_end(s);
    return rc == SUCCESS ? passed_on : rc;
}

static int bcast(struct tpsl_collectives *c, struct tpsl_seat *s, struct tpsl_blocks *b, int root)
{
    union what what = {.call = BCAST, .root = (uint8_t)root};
    if (root < 0 || root >= tpsl_ranks_of(s) || !tpsl_blocks_are_right(c, b, 1))
        return tpsl_abstain(s, what);
    tpsl_team_begin(s, what.word);
    int member = tpsl_member_of(s, root), giver = member < 0 ? 0 : member;
    if (s->rank != giver)
        return bcast_to(c, s, giver, root, tpsl_block_at(c, b, 0));
    return member < 0 ? bcast_from_afar(c, s, root, tpsl_block_at(c, b, 0)) : bcast_from(c, s, root, b);
}

/* ---- blocks from and to members ---- */

/* Whether the member's own block would be copied to itself, which MPI forbids. */
static bool are_one(struct tpsl_block a, struct tpsl_block b)
{
    return a.address == b.address && a.type == b.type && a.bytes && b.bytes;
}

/* Takes a block from each member that has posted an offer: the first one, or that with the member's number. */
static int take_all(struct tpsl_collectives *c, struct tpsl_seat *s, const struct tpsl_blocks *to, bool first, bool own)
{
    int rc = SUCCESS;
    for (int k = own ? 0 : 1; k < s->team->size; k++) {
        int member = (s->rank + k) % s->team->size;
        int taken = tpsl_take(c, tpsl_team_read(s, member), first ? 0 : s->rank, tpsl_block_at(c, to, member));
        rc = rc == SUCCESS ? taken : rc;
    }
    return rc;
}

static struct tpsl_blocks one_block(struct tpsl_collectives *c, const struct tpsl_blocks *b, int i)
{
    struct tpsl_block block = tpsl_block_at(c, b, i);
    return (struct tpsl_blocks){.buffer = block.address, .count = block.count, .type = block.type, .size = b->size, .extent = b->extent};
}

/* Every member gives a block to every other one: the same, or to each one its own. */
static int exchange(struct tpsl_collectives *c, struct tpsl_seat *s, enum call call, bool same, struct tpsl_blocks *from, struct tpsl_blocks *to)
{
    union what what = {.call = (uint8_t)call};
    int size = s->team->size, n = same ? 1 : size, rc;
    bool in_place = from->buffer == IN_PLACE, right = tpsl_blocks_are_right(c, to, size);
    struct tpsl_blocks gives = *from;
    void *memory;

    if (right && in_place)
        gives = same ? one_block(c, to, s->rank) : *to;
    else if (right) {
        right = tpsl_blocks_are_right(c, &gives, n) && !are_one(tpsl_block_at(c, &gives, same ? 0 : s->rank), tpsl_block_at(c, to, s->rank));
    }
    if (!right)
        return tpsl_abstain(s, what);
    tpsl_team_begin(s, what.word);
    bool offers = post_offer(c, s, &gives, n, in_place && !same, &memory); /* a copy, as its blocks are overwritten */
    rc = offers && tpsl_team_all_take_part(s) ? take_all(c, s, to, same, !in_place) : NOT_SERVED;
    tpsl_team_end(s);
    if (offers && tpsl_lies_elsewhere(tpsl_team_post(s)))
        tpsl_team_await_all(s);
    free(memory);
    return rc;
}

static int gather_to(struct tpsl_collectives *c, struct tpsl_seat *s, union what what, struct tpsl_blocks *from, struct tpsl_blocks *to)
{
    bool in_place = from->buffer == IN_PLACE, right = tpsl_blocks_are_right(c, to, s->team->size) && (in_place || tpsl_blocks_are_right(c, from, 1));
    int rc = NOT_SERVED;

    if (!right || (!in_place && are_one(tpsl_block_at(c, from, 0), tpsl_block_at(c, to, s->rank))))
        return tpsl_abstain(s, what);
    tpsl_team_begin(s, what.word);
    tpsl_team_publish(s);
    if (tpsl_team_all_take_part(s)) {
        rc = take_all(c, s, to, true, false);
        int own = in_place ? SUCCESS : tpsl_copy_block(c, tpsl_block_at(c, from, 0), tpsl_block_at(c, to, s->rank));
        rc = rc == SUCCESS ? own : rc;
    }
    tpsl_team_end(s);
    return rc;
}

/* `to` is of the root alone. */
static int gather(struct tpsl_collectives *c, struct tpsl_seat *s, enum call call, struct tpsl_blocks *from, struct tpsl_blocks *to, int root)
{
    union what what = {.call = (uint8_t)call, .root = (uint8_t)root};
    void *memory;

    if (s->rank == root)
        return gather_to(c, s, what, from, to);
    if (root < 0 || root >= s->team->size || !tpsl_blocks_are_right(c, from, 1))
        return tpsl_abstain(s, what);
    tpsl_team_begin(s, what.word);
    bool offers = post_offer(c, s, from, 1, false, &memory);
    tpsl_team_end(s);
    if (offers && tpsl_lies_elsewhere(tpsl_team_post(s)))
        tpsl_team_await(s, root);
    free(memory);
    return offers ? SUCCESS : NOT_SERVED;
}

static int scatter_from(struct tpsl_collectives *c, struct tpsl_seat *s, union what what, struct tpsl_blocks *from, struct tpsl_blocks *to)
{
    bool in_place = to->buffer == IN_PLACE, right = tpsl_blocks_are_right(c, from, s->team->size) && (in_place || tpsl_blocks_are_right(c, to, 1));
    int rc = NOT_SERVED;
    void *memory;

    if (!right || (!in_place && are_one(tpsl_block_at(c, from, s->rank), tpsl_block_at(c, to, 0))))
        return tpsl_abstain(s, what);
    tpsl_team_begin(s, what.word);
    bool offers = post_offer(c, s, from, s->team->size, false, &memory);
    if (offers)
        rc = in_place ? SUCCESS : tpsl_take(c, tpsl_team_post(s), s->rank, tpsl_block_at(c, to, 0));
    tpsl_team_end(s);
    if (offers && tpsl_lies_elsewhere(tpsl_team_post(s)))
        tpsl_team_await_all(s);
    free(memory);
    return rc;
}

/* `from` is of the root alone. */
static int scatter(struct tpsl_collectives *c, struct tpsl_seat *s, enum call call, struct tpsl_blocks *from, struct tpsl_blocks *to, int root)
{
    union what what = {.call = (uint8_t)call, .root = (uint8_t)root};

    if (s->rank == root)
        return scatter_from(c, s, what, from, to);
    if (root < 0 || root >= s->team->size || !tpsl_blocks_are_right(c, to, 1))
        return tpsl_abstain(s, what);
    tpsl_team_begin(s, what.word);
    const struct tpsl_offer *offer = tpsl_team_read(s, root);
    int rc = offer ? tpsl_take(c, offer, s->rank, tpsl_block_at(c, to, 0)) : NOT_SERVED;
    tpsl_team_end(s);
    return rc;
}

/* ---- the functions ---- */

static int barrier(handle comm)
{
    struct tpsl_collectives *c = my_state();
    struct tpsl_seat *s = tpsl_seat_over_processes(c, comm);
    if (!s)
        return LIBRARY(c, Barrier)(comm);
    return tpsl_report(c, comm, tpsl_barrier(s));
}

#define NAME(name) name
#define COUNT int
#define DISPLACEMENT int
#include "movement_calls.h"
#undef NAME
#undef COUNT
#undef DISPLACEMENT

#define NAME(name) name##_c
#define COUNT int64_t
#define DISPLACEMENT intptr_t
#include "movement_calls.h"

#define ENTRY(name) {"MPI_" #name, name}, {"MPI_" #name "_c", name##_c}
const struct tpsl_mpi_wrapper tpsl_movements[] = {
    {"MPI_Barrier", barrier}, ENTRY(Bcast), ENTRY(Gather), ENTRY(Gatherv), ENTRY(Scatter), ENTRY(Scatterv),
    ENTRY(Allgather), ENTRY(Allgatherv), ENTRY(Alltoall), ENTRY(Alltoallv), ENTRY(Alltoallw),
};
