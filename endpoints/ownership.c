// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "endpoint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__thread struct tpsl_endpoint *tpsl_self __attribute__((tls_model("initial-exec")));

static struct tpsl_endpoint *endpoints;
static int count;
static pthread_key_t key; /* an owner's endpoint, whatever it acts for; the destructor tells that it ends */

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

bool tpsl_endpoints_make(int n, const int *ranks)
{
    struct tpsl_endpoint *e = aligned_alloc(_Alignof(struct tpsl_endpoint), (size_t)n * sizeof *e);
    if (!e || pthread_key_create(&key, thread_ends) != 0)
        return false;
    memset(e, 0, (size_t)n * sizeof *e);
    for (int i = 0; i < n; i++) {
        e[i].slot = i;
        e[i].rank = ranks[i];
    }
    endpoints = e;
    count = n;
    return true;
}

int tpsl_endpoints_count(void)
{
    return count;
}

struct tpsl_endpoint *tpsl_endpoint_at(int slot)
{
    return slot >= 0 && slot < count ? &endpoints[slot] : NULL;
}

static bool move(struct tpsl_endpoint *ep, int from, int to)
{
    return atomic_compare_exchange_strong_explicit(&ep->state, &from, to, memory_order_acq_rel, memory_order_acquire);
}

bool tpsl_endpoint_claim(struct tpsl_endpoint *ep)
{
    return move(ep, TPSL_FREE, TPSL_CLAIMED);
}

struct tpsl_endpoint *tpsl_endpoint_claim_lowest(void)
{
    for (int i = 0; i < count; i++)
        if (tpsl_endpoint_claim(&endpoints[i]))
            return &endpoints[i];
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

struct tpsl_endpoint *tpsl_endpoint_owned(void)
{
    return count ? pthread_getspecific(key) : NULL;
}

struct tpsl_endpoint *tpsl_endpoint_switch(struct tpsl_endpoint *ep)
{
    struct tpsl_endpoint *before = tpsl_self;
    tpsl_self = ep;
    return before;
}
