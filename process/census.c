// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "census.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "loader.h"

__attribute__((visibility("hidden"), used)) struct tpsl_census tpsl_census;

static struct tpsl_census_job *_Atomic first;
static _Atomic uint64_t moves;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of writers */

/* A note of name "tpsl" and type 2 holds the census's distance from the word that tells it. It is
 * found by the program headers, so no symbol is needed and a stripped library has it. */
__asm__(".pushsection .note.tpsl, \"a\", @note\n"
        ".balign 4\n"
        ".long 5, 8, 2\n"
        ".asciz \"tpsl\"\n"
        ".balign 4\n"
        ".quad tpsl_census - .\n"
        ".popsection");

static void begin(void)
{
    struct tpsl_census *c = &tpsl_census;
    struct tpsl_layout l;
    tpsl_get_layout(&l);
    c->objects = l.objects;
    c->instance = l.object_instance;
    c->start = l.object_start;
    c->end = l.object_end;
    c->home = l.instance_home;
    c->once = l.once;
    c->published = l.published;
    c->withdrawn = l.withdrawn;
    c->process = (uint64_t)getpid();
    c->jobs = (uintptr_t)&first;
    c->moves = (uintptr_t)&moves;
    atomic_store_explicit(&c->size, sizeof *c, memory_order_release);
}

void tpsl_census_add(struct tpsl_census_job *job)
{
    pthread_mutex_lock(&lock);
    job->next = atomic_load(&first);
    atomic_store(&first, job);
    atomic_fetch_add(&moves, 1);
    if (tpsl_census.size == 0)
        begin();
    pthread_mutex_unlock(&lock);
}

void tpsl_census_remove(struct tpsl_census_job *job)
{
    pthread_mutex_lock(&lock);
    struct tpsl_census_job *before = atomic_load(&first);
    if (before == job) {
        atomic_store(&first, job->next);
    } else {
        while (before->next != job)
            before = before->next;
        before->next = job->next;
    }
    atomic_fetch_add(&moves, 1);
    pthread_mutex_unlock(&lock);
}

/* Too large for the freed blocks that a thread keeps: these may be from another thread's heap. */
static const size_t from_own_heap = 4096;

void tpsl_census_thread(struct tpsl_instance *in, bool first)
{
    pthread_attr_t a;
    void *stack, *heap = malloc(from_own_heap);
    size_t size;
    struct tpsl_home *home = tpsl_instance_home(in);
    home->heap = (uintptr_t)heap;
    free(heap);
    home->thread_locals = tpsl_tls_pages();
    home->stack = home->stack_end = 0; /* not that of a thread before */
    if (first || pthread_getattr_np(pthread_self(), &a) != 0) /* which would read /proc/self/maps */
        return;
    if (pthread_attr_getstack(&a, &stack, &size) == 0) {
        home->stack = (uintptr_t)stack;
        home->stack_end = (uintptr_t)stack + size;
    }
    pthread_attr_destroy(&a);
}
