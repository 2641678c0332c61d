// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Who the leaders of a communicator are, and what they say to each other. Their communicator is made at the first operation on the other one,
 * and goes with it.
 */
#include "hierarchy.h"

#include <stdlib.h>

enum { MOST = 1 << 30 }; /* bytes or elements that the library is given at a time; all leaders cut alike */

/* ---- who is where ---- */

/* What each rank tells all others. */
struct introduction {
    int64_t process; /* a number that no other process of the job has; -1: the rank cannot be served */
    struct tpsl_team *team; /* the leader's: in its process it is an address */
};

static struct introduction *introduce(struct tpsl_collectives *c, handle comm, int size, int rank, struct introduction own)
{
    struct introduction *all = must_have(calloc((size_t)size, sizeof *all));
    all[rank] = own;
    must_succeed(c->Allgather(IN_PLACE, 0, TYPE_NULL, all, sizeof *all, TYPE_BYTE, comm));
    return all;
}

/* Finds out where each rank is, which is the same at all ranks but for the numbers in this one's own team. Returns how many
 * processes there are, or 0 if a rank cannot be served. */
static int place_all(struct tpsl_place *places, const struct introduction *all, int size, int rank)
{
    int processes = 0, members = 0;
    for (int i = 0; i < size; i++) {
        if (all[i].process < 0)
            return 0;
        int first = 0;
        while (all[first].process != all[i].process)
            first++;
        places[i].leader = first == i ? processes++ : places[first].leader;
        places[i].member = all[i].process == all[rank].process ? members++ : -1;
    }
    return processes;
}

static struct tpsl_team *share_team(struct tpsl_collectives *c, handle comm, const struct tpsl_hierarchy *h, int rank)
{
    struct introduction own = {0};
    int leader = 0, members = 0;
    for (int i = h->size - 1; i >= 0; i--) {
        members += h->places[i].member >= 0;
        leader = h->places[i].member == 0 ? i : leader;
    }
    if (rank == leader)
        own.team = must_have(tpsl_team_make(members));
    struct introduction *all = introduce(c, comm, h->size, rank, own);
    struct tpsl_team *team = all[leader].team;
    free(all);
    return team;
}

/* Threads of a rank that make communicators at the same time get on slowly in MPICH, as they try again and again. A second communicator
 * for each would make that worse. */
static bool may_join(struct tpsl_collectives *c)
{
    int level;
    must_succeed(c->Query_thread(&level));
    return c->able && level != tpsl_thread_multiple(tpsl_self->job);
}

struct tpsl_hierarchy *tpsl_hierarchy_join(struct tpsl_collectives *c, handle comm, int size, struct tpsl_team **team, int *member)
{
    struct tpsl_hierarchy *h = must_have(calloc(1, sizeof *h + (size_t)size * sizeof h->places[0]));
    int rank;

    must_succeed(c->Comm_rank(comm, &rank));
    struct introduction *all = introduce(c, comm, size, rank, (struct introduction){.process = may_join(c) ? tpsl_self->job->ranks[0].number : -1});
    int processes = place_all(h->places, all, size, rank);
    free(all);
    if (processes == 0 || processes == size) {
        free(h);
        return NULL;
    }
    h->size = size;
    h->free = c->Comm_free;
    *member = h->places[rank].member;
    *team = share_team(c, comm, h, rank);
    must_succeed(c->Comm_split(comm, *member == 0 ? 0 : UNDEFINED, rank, &h->leaders));
    if (*member == 0)
        must_succeed(c->Comm_set_errhandler(h->leaders, ERRORS_RETURN));
    return h;
}

int tpsl_rank_of(const struct tpsl_seat *s, int member)
{
    int rank = member;
    while (s->hierarchy && s->hierarchy->places[rank].member != member)
        rank++;
    return rank;
}

void tpsl_hierarchy_leave(struct tpsl_hierarchy *h)
{
    if (h->leaders != COMM_NULL)
        h->free(&h->leaders);
    free(h);
}

/* ---- what leaders say to each other ---- */

static int class_of(struct tpsl_collectives *c, int rc)
{
    int class = SUCCESS;
    if (rc != SUCCESS && c->Error_class(rc, &class) != SUCCESS)
        class = ERR_OTHER;
    return class;
}

int tpsl_leaders_meet(struct tpsl_seat *s)
{
    struct tpsl_collectives *c = s->library;
    return tpsl_leads(s) ? class_of(c, c->Barrier(s->hierarchy->leaders)) : SUCCESS;
}

int tpsl_leaders_bcast(struct tpsl_seat *s, void *data, size_t bytes, int root)
{
    struct tpsl_collectives *c = s->library;
    int rc = SUCCESS;

    for (size_t at = 0, n; tpsl_leads(s) && rc == SUCCESS && at < bytes; at += n) {
        n = bytes - at < MOST ? bytes - at : MOST;
        rc = c->Bcast((char *)data + at, (int)n, TYPE_BYTE, s->hierarchy->places[root].leader, s->hierarchy->leaders);
    }
    return class_of(c, rc);
}

static int reduce_part(struct tpsl_seat *s, const struct tpsl_elements *e, const char *from, char *to, int n, int root)
{
    struct tpsl_collectives *c = s->library;
    const struct tpsl_hierarchy *h = s->hierarchy;
    if (root == TPSL_NO_ROOT)
        return c->Allreduce(from == to ? IN_PLACE : from, to, n, e->type, e->operation, h->leaders);
    return c->Reduce(from, to, n, e->type, e->operation, h->places[root].leader, h->leaders);
}

int tpsl_leaders_reduce(struct tpsl_seat *s, const struct tpsl_elements *e, const void *from, void *to, int root)
{
    int rc = SUCCESS;
    for (size_t i = 0, n; tpsl_leads(s) && rc == SUCCESS && i < e->n; i += n) {
        n = e->n - i < MOST ? e->n - i : MOST;
        size_t at = i * e->width;
        rc = reduce_part(s, e, (const char *)from + at, to ? (char *)to + at : NULL, (int)n, root);
    }
    return class_of(s->library, rc);
}
