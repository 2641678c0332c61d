// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Which object holds an address, in a few loads whatever the number of instances:
 * every throw of an exception asks once per frame, from any thread.
 *
 * The address space is cut into chunks. An object has a place in every chunk that it
 * reaches into, and places are in buckets by their chunk. A bucket only grows, at its
 * head and by a release store, after the object is complete; places never change. So
 * readers need no lock, and a signal handler may be one.
 */
#include "loader.h"

enum { CHUNK_BITS = 22, BUCKETS = 4096 };

static const struct tpsl_place *_Atomic buckets[BUCKETS];

static uintptr_t chunk_of(uintptr_t address)
{
    return address >> CHUNK_BITS;
}

size_t tpsl_object_size(size_t span)
{
    return sizeof(struct tpsl_object) + (chunk_of(span) + 2) * sizeof(struct tpsl_place);
}

void tpsl_object_enter(struct tpsl_object *o)
{
    struct tpsl_place *p = o->places;
    for (uintptr_t chunk = chunk_of(o->start); chunk <= chunk_of(o->end - 1); chunk++, p++) {
        const struct tpsl_place *_Atomic *bucket = &buckets[chunk % BUCKETS];
        *p = (struct tpsl_place){chunk, o, atomic_load(bucket)};
        atomic_store_explicit(bucket, p, memory_order_release);
    }
}

struct tpsl_object *tpsl_object_at(const void *address)
{
    uintptr_t a = (uintptr_t)address, chunk = chunk_of(a);
    const struct tpsl_place *p = atomic_load_explicit(&buckets[chunk % BUCKETS], memory_order_acquire);
    for (; p; p = p->older)
        if (p->chunk == chunk && a >= p->object->start && a < p->object->end)
            return p->object;
    return NULL;
}
