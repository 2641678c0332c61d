// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* How members give data to each other. The handle of a derived datatype means something to its own rank only. So each member packs
 * what it gives, if it does not lie in a row, and each member unpacks what it takes, straight from the other member's memory.
 */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

/* By a message of the rank to itself: MPI_Pack refuses MPI_BOTTOM. */
bool tpsl_convert(struct tpsl_collectives *c, const void *from, int64_t nfrom, handle from_type, void *to, int64_t nto, handle to_type)
{
    bool large = nfrom > INT32_MAX || nto > INT32_MAX;
    int rc;

    if (large && !c->Sendrecv_c)
        tpsl_die(1, "rank %d: the MPI library has no MPI_Sendrecv_c, without which 2 GiB of a derived datatype cannot be packed; set TPSL_COLLECTIVES=library", tpsl_self->rank);
    pthread_mutex_lock(&c->converting); /* another thread of the rank could receive what this one sends */
    if (large)
        rc = c->Sendrecv_c(from, nfrom, from_type, 0, 0, to, nto, to_type, 0, 0, c->self, STATUS_IGNORE);
    else
        rc = c->Sendrecv(from, (int)nfrom, from_type, 0, 0, to, (int)nto, to_type, 0, 0, c->self, STATUS_IGNORE);
    pthread_mutex_unlock(&c->converting);
    return rc == SUCCESS;
}

static size_t size_of(struct tpsl_collectives *c, handle type)
{
    int64_t size = (unsigned int)type >> 8 & 0xff;
    if (!tpsl_is_row(type) && c->Type_size_x(type, &size) != SUCCESS)
        return 0;
    return (size_t)size;
}

static int64_t count_of(const struct tpsl_blocks *b, int i)
{
    if (!b->counts)
        return b->count;
    return b->large ? ((const int64_t *)b->counts)[i] : ((const int *)b->counts)[i];
}

static intptr_t displacement_of(const struct tpsl_blocks *b, int i)
{
    if (!b->displacements)
        return (intptr_t)i * b->count * b->extent;
    intptr_t units = b->large ? ((const intptr_t *)b->displacements)[i] : ((const int *)b->displacements)[i];
    return b->types ? units : units * b->extent;
}

/* What MPICH asks of a block, too. An address that is NULL is right with a displacement, and with types of addresses. */
static bool block_is_right(struct tpsl_collectives *c, const struct tpsl_blocks *b, int i)
{
    int64_t count = count_of(b, i), size;
    if (count <= 0)
        return count == 0;
    handle type = b->types ? b->types[i] : b->type;
    if (b->types && !tpsl_is_row(type) && (type == TYPE_NULL || c->Type_size_x(type, &size) != SUCCESS))
        return false;
    bool nowhere = !b->buffer && tpsl_is_row(type) && (!b->displacements || displacement_of(b, i) == 0);
    return !nowhere && b->buffer != IN_PLACE;
}

static bool look_at_type(struct tpsl_collectives *c, struct tpsl_blocks *b)
{
    intptr_t lower;
    int64_t size;

    b->size = (unsigned int)b->type >> 8 & 0xff;
    b->extent = (intptr_t)b->size;
    if (tpsl_is_row(b->type))
        return true;
    if (b->type == TYPE_NULL || c->Type_size_x(b->type, &size) != SUCCESS || c->Type_get_extent(b->type, &lower, &b->extent) != SUCCESS)
        return false;
    b->size = (size_t)size;
    return true;
}

bool tpsl_blocks_are_right(struct tpsl_collectives *c, struct tpsl_blocks *b, int n)
{
    if (b->displacements ? !b->counts : b->counts || b->types)
        return false; /* a list is missing */
    if (!b->types && !look_at_type(c, b))
        return false;
    bool right = true;
    for (int i = 0; right && i < (b->counts ? n : 1); i++)
        right = block_is_right(c, b, i);
    return right;
}

struct tpsl_block tpsl_block_at(struct tpsl_collectives *c, const struct tpsl_blocks *b, int i)
{
    struct tpsl_block block = {.address = (char *)b->buffer + displacement_of(b, i), .count = count_of(b, i), .type = b->types ? b->types[i] : b->type};
    if (block.count)
        block.bytes = (size_t)block.count * (b->types ? size_of(c, block.type) : b->size);
    return block;
}

/* To a row, which has room for it. */
static bool pack(struct tpsl_collectives *c, struct tpsl_block from, void *to)
{
    if (from.bytes == 0)
        return true;
    if (!tpsl_is_row(from.type))
        return tpsl_convert(c, from.address, from.count, from.type, to, (int64_t)from.bytes, TYPE_PACKED);
    memcpy(to, from.address, from.bytes);
    return true;
}

/* From a row. A block that is longer than what it gets keeps the rest. */
static int unpack(struct tpsl_collectives *c, struct tpsl_span from, struct tpsl_block to)
{
    size_t bytes = from.bytes < to.bytes ? from.bytes : to.bytes;
    if (bytes && tpsl_is_row(to.type))
        memcpy(to.address, from.address, bytes);
    else if (bytes && !tpsl_convert(c, from.address, (int64_t)bytes, TYPE_PACKED, to.address, to.count, to.type))
        return ERR_TYPE;
    return from.bytes > to.bytes ? ERR_TRUNCATE : SUCCESS;
}

int tpsl_copy_block(struct tpsl_collectives *c, struct tpsl_block from, struct tpsl_block to)
{
    if (tpsl_is_row(from.type))
        return unpack(c, (struct tpsl_span){from.address, from.bytes}, to);
    if (tpsl_is_row(to.type) && from.bytes <= to.bytes)
        return pack(c, from, to.address) ? SUCCESS : ERR_TYPE;
    void *row = must_have(malloc(from.bytes + 1));
    int rc = pack(c, from, row) ? unpack(c, (struct tpsl_span){row, from.bytes}, to) : ERR_TYPE;
    free(row);
    return rc;
}

/* Blocks that fit into a post with their marks. */
static bool offer_by_marks(struct tpsl_collectives *c, struct tpsl_offer *o, const struct tpsl_blocks *b, int n)
{
    size_t at = (size_t)n + 1;
    bool packed = true;

    o->place = IN_POST_BY_MARKS;
    o->data[0] = (unsigned char)at;
    for (int i = 0; packed && i < n; i++) {
        struct tpsl_block block = tpsl_block_at(c, b, i);
        packed = pack(c, block, &o->data[at]);
        at += block.bytes;
        o->data[i + 1] = (unsigned char)at;
    }
    return packed;
}

/* Other blocks of different lengths, or apart from each other. */
static bool offer_spans(struct tpsl_collectives *c, struct tpsl_offer *o, const struct tpsl_blocks *b, int n, bool copy, void **memory)
{
    size_t packed = 0, all = 0;
    for (int i = 0; i < n; i++) {
        struct tpsl_block block = tpsl_block_at(c, b, i);
        all += block.bytes;
        packed += copy || !tpsl_is_row(block.type) ? block.bytes : 0;
    }
    if (all + (size_t)n < sizeof o->data)
        return offer_by_marks(c, o, b, n);
    struct tpsl_span *spans = *memory = must_have(malloc((unsigned int)n * sizeof *spans + packed));
    char *row = (char *)&spans[n];
    o->place = IN_SPANS;
    o->spans = spans;
    for (int i = 0; i < n; i++) {
        struct tpsl_block block = tpsl_block_at(c, b, i);
        spans[i] = (struct tpsl_span){block.address, block.bytes};
        if (!copy && tpsl_is_row(block.type))
            continue;
        if (!pack(c, block, row))
            return false;
        spans[i].address = row;
        row += block.bytes;
    }
    return true;
}

bool tpsl_offer(struct tpsl_collectives *c, struct tpsl_offer *o, const struct tpsl_blocks *b, int n, bool copy, void **memory)
{
    *memory = NULL;
    if (b->counts)
        return offer_spans(c, o, b, n, copy, memory);
    struct tpsl_block all = tpsl_block_at(c, b, 0);
    o->bytes = all.bytes;
    all.count *= n;
    all.bytes *= (size_t)n;
    o->place = all.bytes <= sizeof o->data ? IN_POST : IN_ROW;
    if (o->place == IN_POST)
        return pack(c, all, o->data);
    o->address = all.address;
    if (!copy && tpsl_is_row(all.type))
        return true;
    o->address = *memory = must_have(malloc(all.bytes));
    return pack(c, all, *memory);
}

int tpsl_take(struct tpsl_collectives *c, const struct tpsl_offer *o, int i, struct tpsl_block to)
{
    if (o->place == FAILED)
        return (int)o->bytes;
    if (o->place == IN_SPANS)
        return unpack(c, o->spans[i], to);
    if (o->place == IN_POST_BY_MARKS)
        return unpack(c, (struct tpsl_span){(const char *)&o->data[o->data[i]], (size_t)(o->data[i + 1] - o->data[i])}, to);
    return unpack(c, (struct tpsl_span){(const char *)tpsl_row_of(o) + (size_t)i * o->bytes, o->bytes}, to);
}
