// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Finds the object that contains an address. This takes a few loads for any number of
 * instances, because every exception asks once per frame, from any thread.
 *
 * The address space is cut into chunks. An object has an extent in every chunk that it
 * reaches into, and extents are in buckets by their chunk. Readers take no lock, and a
 * signal handler may be one. Writers hold the registry's lock:
 *
 * - An extent is complete when a release store puts it at the head of its bucket.
 * - When an object leaves, one store removes each of its extents from its bucket. A reader
 *   that is at such an extent can still continue to the next one. Then `departures` counts
 *   the object.
 * - The memory of an object that left is never freed. It is used only for another object,
 *   and keeps its extents. So a late reader still finds extents, but they may be in another
 *   bucket. It sees that departures has changed, and searches again.
 *
 * So a reader never waits, and repeats only if an object left meanwhile.
 */
#include "object.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_BITS = 22, BUCKETS = 4096 };

static struct tpsl_extent *_Atomic buckets[BUCKETS];
static _Atomic uintptr_t departures;

static struct tpsl_object *spares; /* by ->next */
static pthread_mutex_t spares_lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t chunk_of(uintptr_t address)
{
    return address >> CHUNK_BITS;
}

static struct tpsl_object *spare_with(size_t extents)
{
    pthread_mutex_lock(&spares_lock);
    struct tpsl_object *o = spares, *before = NULL;
    while (o && o->nextents < extents) {
        before = o;
        o = o->next;
    }
    if (o && before)
        atomic_store(&before->next, atomic_load(&o->next));
    else if (o)
        spares = o->next;
    pthread_mutex_unlock(&spares_lock);
    return o;
}

struct tpsl_object *tpsl_object_new(size_t span)
{
    size_t extents = chunk_of(span) + 2;
    struct tpsl_object *o = spare_with(extents);
    if (o) {
        extents = o->nextents;
        memset(o, 0, offsetof(struct tpsl_object, extents));
    } else {
        o = calloc(1, sizeof *o + extents * sizeof *o->extents);
        for (size_t i = 0; o && i < extents; i++)
            o->extents[i].object = o;
    }
    if (o)
        o->nextents = extents;
    return o;
}

void tpsl_object_spare(struct tpsl_object *o)
{
    pthread_mutex_lock(&spares_lock);
    atomic_store(&o->next, spares);
    spares = o;
    pthread_mutex_unlock(&spares_lock);
}

void tpsl_object_enter(struct tpsl_object *o)
{
    struct tpsl_extent *p = o->extents;
    for (uintptr_t chunk = chunk_of(o->start); chunk <= chunk_of(o->end - 1); chunk++, p++) {
        struct tpsl_extent *_Atomic *bucket = &buckets[chunk % BUCKETS];
        atomic_store_explicit(&p->chunk, chunk, memory_order_relaxed);
        atomic_store_explicit(&p->older, atomic_load(bucket), memory_order_relaxed);
        atomic_store_explicit(bucket, p, memory_order_release);
    }
}

void tpsl_object_leave(struct tpsl_object *o)
{
    struct tpsl_extent *p = o->extents;
    for (uintptr_t chunk = chunk_of(o->start); chunk <= chunk_of(o->end - 1); chunk++, p++) {
        struct tpsl_extent *_Atomic *link = &buckets[chunk % BUCKETS];
        while (atomic_load(link) != p)
            link = &atomic_load(link)->older;
        atomic_store_explicit(link, atomic_load(&p->older), memory_order_release);
    }
    atomic_fetch_add(&departures, 1);
}

static struct tpsl_object *search(uintptr_t a)
{
    uintptr_t chunk = chunk_of(a);
    const struct tpsl_extent *p = atomic_load_explicit(&buckets[chunk % BUCKETS], memory_order_acquire);
    for (; p; p = atomic_load_explicit(&p->older, memory_order_acquire))
        if (atomic_load_explicit(&p->chunk, memory_order_relaxed) == chunk && a >= p->object->start && a < p->object->end)
            return p->object;
    return NULL;
}

struct tpsl_object *tpsl_object_at(const void *address)
{
    struct tpsl_object *found;
    uintptr_t before, after = atomic_load_explicit(&departures, memory_order_acquire);
    do {
        before = after;
        found = search((uintptr_t)address);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&departures, memory_order_acquire);
    } while (after != before);
    return found;
}
