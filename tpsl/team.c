// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* How the members of a team tell each other something: by a number that each operation has, and by lines of memory that
 * one member writes and the others read.
 */
#include "team.h"
#include "long_wait.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPINS = 64,      /* looks before a member that waits lets its MPI library work */
    YIELDS = 16,     /* the same for a member that yields between two of them */
    ALL_READ = 4,    /* up to so many members each reads all posts; beyond, the first one reads them and answers */
    PART = 32 << 10, /* bytes of a copy that one member takes at a time */
};

struct tpsl_team *tpsl_team_make(int size)
{
    size_t bytes = sizeof(struct tpsl_team) + (size_t)size * sizeof(struct tpsl_member);
    struct tpsl_team *t = aligned_alloc(TPSL_CACHE_LINE, (bytes + TPSL_CACHE_LINE - 1) / TPSL_CACHE_LINE * TPSL_CACHE_LINE);
    if (!t)
        return NULL;
    memset(t, 0, bytes);
    t->size = size;
    atomic_init(&t->left, size);
    return t;
}

void tpsl_seat_leave(struct tpsl_seat *s)
{
    if (atomic_fetch_sub(&s->team->left, 1) == 1)
        free(s->team);
    free(s);
}

/* A member's wait for another one. */
struct wait {
    unsigned int looks; /* wraps around */
    long began; /* nanoseconds; 0: not known yet */
};

/* Leaves the CPU to others, which may be those that the member waits for. The MPI library works too seldom to give way by itself:
 * it could not tell one long wait from many short ones. */
static void give_way(struct tpsl_seat *s, struct wait *w)
{
    if (w->looks++ % YIELDS) {
        sched_yield();
        return;
    }
    s->progress(s->library);
    long time = nanoseconds_now();
    w->began = w->began ? w->began : time;
    if (time - w->began > LONG_NS)
        sleep_part(time - w->began, LONGEST_NS);
}

/* Passes the time between two looks for what another member does. */
static void pass_time(struct tpsl_seat *s, struct wait *w)
{
    if (s->crowded)
        give_way(s, w);
    else if (w->looks++ < SPINS)
        __builtin_ia32_pause();
    else {
        s->progress(s->library);
        w->looks = SPINS / 4 * 3; /* the next time comes earlier */
    }
}

/* Waits until a number is there that another member writes. */
static void await(struct tpsl_seat *s, _Atomic uint64_t *number, uint64_t wanted)
{
    for (struct wait w = {0}; atomic_load_explicit(number, memory_order_acquire) < wanted;)
        pass_time(s, &w);
}

static struct tpsl_post *post_of(struct tpsl_seat *s, int member)
{
    return &s->team->members[member].posts[s->operation % TPSL_POSTS];
}

void tpsl_team_begin(struct tpsl_seat *s, uint64_t call)
{
    s->operation++;
    s->call = call;
    if (s->operation - s->known <= TPSL_POSTS)
        return;
    uint64_t last = s->operation - TPSL_POSTS, least = s->operation;
    for (int i = 0; i < s->team->size; i++) {
        if (i == s->rank)
            continue;
        await(s, &s->team->members[i].done, last);
        uint64_t done = atomic_load_explicit(&s->team->members[i].done, memory_order_acquire);
        least = done < least ? done : least;
    }
    s->known = least;
}

void tpsl_team_end(struct tpsl_seat *s)
{
    atomic_store_explicit(&s->team->members[s->rank].done, s->operation, memory_order_release);
}

void *tpsl_team_post(struct tpsl_seat *s)
{
    return post_of(s, s->rank)->data;
}

static void publish(struct tpsl_seat *s, struct tpsl_post *p, uint64_t call)
{
    p->call = call;
    atomic_store_explicit(&p->operation, s->operation, memory_order_release);
}

void tpsl_team_publish(struct tpsl_seat *s)
{
    publish(s, post_of(s, s->rank), s->call);
}

void tpsl_team_abstain(struct tpsl_seat *s)
{
    publish(s, post_of(s, s->rank), s->call | TPSL_ABSTAINS);
}

const void *tpsl_team_read(struct tpsl_seat *s, int member)
{
    struct tpsl_post *p = post_of(s, member);
    await(s, &p->operation, s->operation);
    bool abstains = p->call & TPSL_ABSTAINS;
    if ((p->call ^ s->call) & (abstains ? TPSL_CALL_KIND : UINT64_MAX))
        s->differs(s, member, p->call);
    return abstains ? NULL : p->data;
}

bool tpsl_team_all_take_part(struct tpsl_seat *s)
{
    bool all = true;
    for (int i = 0; i < s->team->size; i++)
        all &= tpsl_team_read(s, i) != NULL;
    return all;
}

void tpsl_team_await(struct tpsl_seat *s, int member)
{
    await(s, &s->team->members[member].done, s->operation);
}

void tpsl_team_await_all(struct tpsl_seat *s)
{
    for (int i = 0; i < s->team->size; i++)
        tpsl_team_await(s, i);
}

/* The first member's answer, to those that want it. It overwrites that of an earlier operation when all have posted this one, and so have
 * read the other. */
static void give_answer(struct tpsl_seat *s, int status, const void *data, size_t bytes)
{
    struct tpsl_post *p = &s->team->members[0].answer;
    memcpy(p->data, data, bytes);
    publish(s, p, (uint64_t)status);
}

static int take_answer(struct tpsl_seat *s, void *to, size_t bytes)
{
    struct tpsl_post *p = &s->team->members[0].answer;
    await(s, &p->operation, s->operation);
    if (p->call == 0)
        memcpy(to, p->data, bytes);
    return (int)p->call;
}

int tpsl_team_meet(struct tpsl_seat *s, tpsl_answer *answer, const void *data, void *to, size_t bytes)
{
    bool everybody = s->team->size <= ALL_READ && !s->hierarchy;
    if (!everybody && s->rank > 0)
        return take_answer(s, to, bytes);
    int status = tpsl_team_all_take_part(s) ? answer(s, to, data) : -1;
    if (!everybody)
        give_answer(s, status, to, bytes);
    return status;
}

/* Takes the number of a part; false: there are no more, or the member has gone on. */
static bool take_part(struct tpsl_seat *s, struct tpsl_parts *p, uint32_t parts, uint32_t *part)
{
    uint64_t taken = atomic_load(&p->operation_and_taken);
    do {
        if (taken >> 32 != (uint32_t)s->operation || (uint32_t)taken >= parts)
            return false;
    } while (!atomic_compare_exchange_weak(&p->operation_and_taken, &taken, taken + 1));
    *part = (uint32_t)taken;
    return true;
}

void tpsl_team_open_parts(struct tpsl_seat *s)
{
    struct tpsl_parts *p = &s->team->members[s->rank].parts;
    atomic_store(&p->finished, 0);
    atomic_store(&p->operation_and_taken, (uint64_t)(uint32_t)s->operation << 32);
}

void tpsl_team_copy(struct tpsl_seat *s, int member, void *to, const void *from, size_t bytes)
{
    struct tpsl_parts *p = &s->team->members[member].parts;
    uint32_t parts = (uint32_t)((bytes + PART - 1) / PART), part;

    while (take_part(s, p, parts, &part)) {
        size_t at = (size_t)part * PART, rest = bytes - at;
        memcpy((char *)to + at, (const char *)from + at, rest < PART ? rest : PART);
        atomic_fetch_add(&p->finished, 1);
    }
    for (struct wait w = {0}; member == s->rank && atomic_load(&p->finished) < parts;)
        pass_time(s, &w); /* another member is inside a part */
}
