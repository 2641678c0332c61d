/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the members of a team give to each other: blocks of elements of any datatype, offered as bytes in a row.
 */
#ifndef TPSL_BLOCKS_H
#define TPSL_BLOCKS_H

#include "collectives.h"

/* A buffer of a collective operation: a block for each member, or one block. */
struct tpsl_blocks {
    const void *buffer;
    int64_t count; /* elements of each block, if there are no counts */
    handle type;   /* of all elements, if there are no types */
    const void *counts, *displacements; /* of each block; without displacements one block begins where the other ends */
    const handle *types; /* of each block; then displacements are bytes */
    bool large; /* counts are int64_t and displacements are intptr_t; otherwise both are int */
    /* tpsl_blocks_are_right finds out: of `type` */
    size_t size;
    intptr_t extent;
};

/* One of them. */
struct tpsl_block {
    char *address;
    int64_t count;
    handle type;
    size_t bytes; /* of its data */
};

/* Looks at the first n blocks. False: something is wrong with them that the library says better. */
bool tpsl_blocks_are_right(struct tpsl_collectives *, struct tpsl_blocks *, int n);
/* Preconditions: the blocks are right. */
struct tpsl_block tpsl_block_at(struct tpsl_collectives *, const struct tpsl_blocks *, int i);
/* Copies from one block of the member to another one. Returns an error class. */
int tpsl_copy_block(struct tpsl_collectives *, struct tpsl_block from, struct tpsl_block to);

/* What a member offers to others, in its post: blocks as bytes in a row. */
struct tpsl_span {
    const char *address;
    size_t bytes;
};
enum { FAILED, IN_POST, IN_POST_BY_MARKS, IN_ROW, IN_SPANS };
struct tpsl_offer {
    uint64_t bytes : 56; /* of each block, for IN_POST and IN_ROW; for FAILED, the error class of why there are no blocks */
    uint64_t place : 8;
    union {
        /* The blocks themselves. With marks, block i lies from data[data[i]] on and before data[data[i + 1]]. */
        unsigned char data[TPSL_POST_BYTES - sizeof(uint64_t)];
        const char *address;           /* of the first block */
        const struct tpsl_span *spans; /* where each block is */
    };
};

/* Makes an offer of the first n blocks, or of a copy of them. *memory becomes what the caller frees when nobody reads the offer any more.
 * False: there is none, as something is wrong with the blocks. */
bool tpsl_offer(struct tpsl_collectives *, struct tpsl_offer *, const struct tpsl_blocks *, int n, bool copy, void **memory);
/* Whether who takes it reads memory beside the post. */
static inline bool tpsl_lies_elsewhere(const struct tpsl_offer *o)
{
    return o->place >= IN_ROW;
}
/* The blocks of an offer that has them in a row. */
static inline void *tpsl_row_of(const struct tpsl_offer *o)
{
    return o->place == IN_POST ? (void *)o->data : (void *)o->address;
}
/* Takes block i of an offer. Returns an error class. */
int tpsl_take(struct tpsl_collectives *, const struct tpsl_offer *, int i, struct tpsl_block to);

/* Copies from one datatype to another, which may be MPI_PACKED. False: the library refuses. */
bool tpsl_convert(struct tpsl_collectives *, const void *from, int64_t nfrom, handle from_type, void *to, int64_t nto, handle to_type);

#endif
