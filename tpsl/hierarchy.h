/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Hierarchies: communicators whose ranks live in several processes. Those of one process are a team. Its first member, the leader,
 * talks for all of them, by operations of its MPI library among the leaders.
 */
#ifndef TPSL_HIERARCHY_H
#define TPSL_HIERARCHY_H

#include "collectives.h"

/* Where a rank of the communicator is. */
struct tpsl_place {
    int leader; /* number of its leader among the leaders */
    int member; /* its number in the team of this process; -1: it is in another one */
};

/* Belongs to one member, as its seat does. */
struct tpsl_hierarchy {
    handle leaders; /* communicator of the leaders; COMM_NULL: the member is none */
    int (*free)(handle *);
    int size; /* ranks of the communicator */
    struct tpsl_place places[];
};

/* Joins that of a communicator whose `size` ranks, all of MPI_COMM_WORLD, are not all in this process, and the team. All of them call it.
 * NULL: no process has several of them, or one of them cannot be served. */
struct tpsl_hierarchy *tpsl_hierarchy_join(struct tpsl_collectives *, handle comm, int size, struct tpsl_team **team, int *member);
void tpsl_hierarchy_leave(struct tpsl_hierarchy *);

/* Of the communicator of a seat. */
static inline int tpsl_ranks_of(const struct tpsl_seat *s)
{
    return s->hierarchy ? s->hierarchy->size : s->team->size;
}

/* The number in the team of a rank of the communicator. -1: it is in another process. */
static inline int tpsl_member_of(const struct tpsl_seat *s, int rank)
{
    return s->hierarchy ? s->hierarchy->places[rank].member : rank;
}

/* The other way round. */
int tpsl_rank_of(const struct tpsl_seat *, int member);

/* Whether the member talks to other processes. */
static inline bool tpsl_leads(const struct tpsl_seat *s)
{
    return s->hierarchy && s->rank == 0;
}

/* What leaders do, with the part of the library in an operation of all. They return an error class. A leader without a hierarchy has
 * nothing to do. */
int tpsl_leaders_meet(struct tpsl_seat *);
/* `root` is a rank of the communicator, whose leader has the data. */
int tpsl_leaders_bcast(struct tpsl_seat *, void *data, size_t bytes, int root);
/* `to` gets the result at the leader of the root, or, if there is no root, at all leaders. */
enum { TPSL_NO_ROOT = -1 };
struct tpsl_elements {
    size_t n, width; /* bytes of each */
    handle type, operation;
};
int tpsl_leaders_reduce(struct tpsl_seat *, const struct tpsl_elements *, const void *from, void *to, int root);

#endif
