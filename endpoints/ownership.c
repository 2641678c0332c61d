// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "endpoint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__thread struct tpsl_endpoint *tpsl_self __attribute__((tls_model("initial-exec")));

static struct tpsl_endpoints *newest; /* of all jobs of the process; debuggers read the list */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key; /* an owner's endpoint, whatever it acts for; the destructor tells that it ends */
static atomic_bool has_key;

/* In the last round: destructors of other keys may still call MPI as this rank. */
static void thread_ends(void *ep)
{
    static __thread int round __attribute__((tls_model("initial-exec")));
    if (++round < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(key, ep);
        return;
    }
    atomic_store_explicit(&((struct tpsl_endpoint *)ep)->state, TPSL_ENDED, memory_order_release);
}

static bool make_key(void)
{
    if (!atomic_load(&has_key) && pthread_key_create(&key, thread_ends) == 0)
        atomic_store(&has_key, true);
    return atomic_load(&has_key);
}

struct tpsl_endpoints *tpsl_endpoints_make(int n, const int *ranks)
{
    size_t size = sizeof(struct tpsl_endpoints) + (size_t)n * sizeof(struct tpsl_endpoint);
    struct tpsl_endpoints *e = aligned_alloc(_Alignof(struct tpsl_endpoints), size);
    if (!e)
        return NULL;
    memset(e, 0, size);
    e->count = n;
    for (int i = 0; i < n; i++) {
        e->at[i].slot = i;
        e->at[i].rank = ranks[i];
    }
    pthread_mutex_lock(&lock);
    bool whole = make_key();
    if (whole) {
        e->older = newest;
        newest = e;
    }
    pthread_mutex_unlock(&lock);
    if (!whole)
        free(e);
    return whole ? e : NULL;
}

void tpsl_endpoints_free(struct tpsl_endpoints *e)
{
    pthread_mutex_lock(&lock);
    struct tpsl_endpoints **link = &newest;
    while (*link != e)
        link = &(*link)->older;
    *link = e->older;
    pthread_mutex_unlock(&lock);
    free(e);
}

struct tpsl_endpoint *tpsl_endpoint_at(struct tpsl_endpoints *e, int slot)
{
    return slot >= 0 && slot < e->count ? &e->at[slot] : NULL;
}

static bool move(struct tpsl_endpoint *ep, int from, int to)
{
    return atomic_compare_exchange_strong_explicit(&ep->state, &from, to, memory_order_acq_rel, memory_order_acquire);
}

bool tpsl_endpoint_claim(struct tpsl_endpoint *ep)
{
    return move(ep, TPSL_FREE, TPSL_CLAIMED);
}

struct tpsl_endpoint *tpsl_endpoint_claim_lowest(struct tpsl_endpoints *e)
{
    for (int i = 0; i < e->count; i++)
        if (tpsl_endpoint_claim(&e->at[i]))
            return &e->at[i];
    return NULL;
}

static void own(struct tpsl_endpoint *ep)
{
    tpsl_self = ep;
    atomic_store(&ep->thread, gettid());
    pthread_setspecific(key, ep);
}

void tpsl_endpoint_bind(struct tpsl_endpoint *ep)
{
    own(ep);
    move(ep, TPSL_CLAIMED, TPSL_BOUND);
}

bool tpsl_endpoint_adopt(struct tpsl_endpoint *ep, int milliseconds)
{
    const struct timespec one_ms = {0, 1000000};
    while (!move(ep, TPSL_ENDED, TPSL_BOUND)) {
        if (milliseconds-- <= 0)
            return false;
        nanosleep(&one_ms, NULL);
    }
    own(ep);
    return true;
}

void tpsl_endpoint_leave(struct tpsl_endpoint *ep)
{
    tpsl_self = NULL;
    pthread_setspecific(key, NULL);
    atomic_store_explicit(&ep->state, TPSL_ENDED, memory_order_release);
}

struct tpsl_endpoint *tpsl_endpoint_owned(void)
{
    return atomic_load(&has_key) ? pthread_getspecific(key) : NULL;
}

struct tpsl_endpoint *tpsl_endpoint_switch(struct tpsl_endpoint *ep)
{
    struct tpsl_endpoint *before = tpsl_self;
    tpsl_self = ep;
    return before;
}
