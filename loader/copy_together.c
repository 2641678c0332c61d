// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Copies in parts, which threads take that have nothing else to do.
 *
 * A thread offers its copy: where from, where to, how much. Parts are taken by number, by the thread itself and by any other, and the thread
 * returns when all are finished. No thread waits for another one to begin a part. If a part meets a bad address, the thread copies alone from the
 * beginning, and finds the address again.
 */
#include "libc.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum {
    PART = 64 << 10,
    LEAST_PARTS = 2, /* of a copy that is offered */
    OFFERS = 8,      /* at a time; with more, a thread copies alone */
    ALL_TAKEN = 1 << 30,
    SPINS = 1000,
};

/* The number of the offer in the upper half, how many parts are taken in the lower one. Who takes a part has seen the other fields of the
 * same offer, because they change only when all parts that were taken are finished. */
struct offer {
    _Atomic uint64_t number_and_taken;
    _Atomic(char *) to;
    _Atomic(const char *) from;
    _Atomic size_t bytes;
    _Atomic uint32_t finished; /* parts */
    atomic_bool failed;        /* a part met a bad address */
} __attribute__((aligned(64)));

static struct offer offers[OFFERS];
static _Atomic uint32_t claimed; /* offers, a bit for each, that a thread has to itself */
_Atomic uint32_t tpsl_copies_offered;
static atomic_bool sharing;

void tpsl_copies_share(void)
{
    atomic_store(&sharing, true);
}

static uint32_t parts_of(size_t bytes)
{
    return (uint32_t)((bytes + PART - 1) / PART);
}

/* Copies a part that it takes; false: there is none. A bad address leads to tpsl_copy_recovery. */
static bool copy_part(struct offer *o)
{
    uint64_t taken = atomic_load(&o->number_and_taken);
    char *to = atomic_load_explicit(&o->to, memory_order_relaxed);
    const char *from = atomic_load_explicit(&o->from, memory_order_relaxed);
    size_t bytes = atomic_load_explicit(&o->bytes, memory_order_relaxed), at = (size_t)(uint32_t)taken * PART;
    if ((uint32_t)taken >= parts_of(bytes) || !atomic_compare_exchange_strong(&o->number_and_taken, &taken, taken + 1))
        return (uint32_t)taken < parts_of(bytes); /* another thread was faster */
    memcpy(to + at, from + at, bytes - at < PART ? bytes - at : PART);
    atomic_fetch_add(&o->finished, 1);
    return true;
}

/* Takes parts until there are none, or one meets a bad address. */
static __attribute__((noinline)) void take_parts(struct offer *o)
{
    sigjmp_buf back, *volatile outer = tpsl_copy_recovery;
    if (sigsetjmp(back, 0) == 0) {
        tpsl_copy_recovery = &back;
        while (copy_part(o))
            ;
    } else {
        atomic_store(&o->failed, true);
        atomic_fetch_add(&o->finished, 1);
    }
    tpsl_copy_recovery = outer;
}

void tpsl_copies_help(void)
{
    uint32_t offered = atomic_load_explicit(&tpsl_copies_offered, memory_order_acquire);
    if (offered)
        take_parts(&offers[__builtin_ctz(offered)]);
}

static struct offer *claim(void)
{
    uint32_t mine, before = atomic_load(&claimed);
    do {
        if (before == (1u << OFFERS) - 1)
            return NULL;
        mine = ~before & (before + 1); /* the lowest that is free */
    } while (!atomic_compare_exchange_weak(&claimed, &before, before | mine));
    return &offers[__builtin_ctz(mine)];
}

static void offer(struct offer *o, char *to, const char *from, size_t bytes)
{
    uint64_t number = (atomic_load(&o->number_and_taken) >> 32) + 1;
    atomic_store(&o->to, to);
    atomic_store(&o->from, from);
    atomic_store(&o->bytes, bytes);
    atomic_store(&o->finished, 0);
    atomic_store(&o->failed, false);
    atomic_store(&o->number_and_taken, number << 32);
    atomic_fetch_or(&tpsl_copies_offered, 1u << (o - offers));
}

/* Waits for the parts that others have begun. Returns whether all were copied. */
static bool withdraw(struct offer *o, size_t bytes)
{
    uint64_t taken = atomic_fetch_or(&o->number_and_taken, ALL_TAKEN);
    uint32_t parts = parts_of(bytes), begun = (uint32_t)taken < parts ? (uint32_t)taken : parts;
    atomic_fetch_and(&tpsl_copies_offered, ~(1u << (o - offers)));
    for (int looks = 0; atomic_load(&o->finished) < begun; looks++)
        if (looks < SPINS)
            __builtin_ia32_pause();
        else
            sched_yield(); /* a thread that has begun a part has no CPU */
    return !atomic_load(&o->failed);
}

/* Copies together with whoever helps. False: nothing can be said of what was copied. */
static bool copy_together(char *to, const char *from, size_t bytes)
{
    struct offer *o = claim();
    if (!o)
        return false;
    offer(o, to, from, bytes);
    take_parts(o);
    bool whole = withdraw(o, bytes);
    atomic_fetch_and(&claimed, ~(1u << (o - offers)));
    return whole;
}

void tpsl_copy_bytes(char *to, const char *from, size_t n)
{
    bool apart = to + n <= from || from + n <= to;
    if (n < LEAST_PARTS * PART || !apart || !atomic_load_explicit(&sharing, memory_order_relaxed) || !copy_together(to, from, n))
        memcpy(to, from, n); /* finds a bad address again, and where it is */
}

/* In a child of fork the others' copies do not go on. */
static void be_alone(void)
{
    atomic_store(&tpsl_copies_offered, 0);
    atomic_store(&claimed, 0);
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, be_alone);
}
