// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads made inside an instance act for it, whatever made them. */
#include "loader.h"

#include <errno.h>
#include <stdlib.h>

static const struct tpsl_thread_hooks *hooks;

void tpsl_set_thread_hooks(const struct tpsl_thread_hooks *h)
{
    hooks = h;
}

/* What a new thread is given. It frees nothing: its first call of free would get it an arena of
 * malloc, 64 MiB of addresses, a page and a page table, which threads that allocate nothing do without. */
struct birth {
    void *(*routine)(void *);
    void *argument;
    struct tpsl_instance *instance;
    void *state;
    struct birth *next; /* of those that were put back */
};

static struct birth *_Atomic spent;

/* Without a lock, which a child of fork might find held. */
static void put_back(struct birth *b)
{
    b->next = atomic_load(&spent);
    while (!atomic_compare_exchange_weak(&spent, &b->next, b))
        ;
}

/* One of those put back. The others are freed: a thread that starts threads uses malloc anyway. */
static struct birth *get(void)
{
    struct birth *b = atomic_exchange(&spent, NULL);
    if (!b)
        return malloc(sizeof *b);
    for (struct birth *other = b->next, *next; other; other = next) {
        next = other->next;
        free(other);
    }
    return b;
}

static void *enter(void *arg)
{
    struct birth b = *(struct birth *)arg;
    put_back(arg);
    tpsl_become(b.instance);
    if (b.state)
        hooks->enter(b.state);
    return b.routine(b.argument);
}

static int create_inheriting(tpsl_thread_create *create, struct tpsl_instance *in, pthread_t *thread, const pthread_attr_t *attr,
                             void *(*routine)(void *), void *argument)
{
    struct birth *b = get();
    if (!b)
        return EAGAIN;
    *b = (struct birth){routine, argument, in, hooks ? hooks->capture() : NULL, NULL};
    int rc = create ? create(thread, attr, enter, b) : ENOSYS;
    if (rc)
        free(b);
    return rc;
}

int tpsl_thread_create_inheriting(tpsl_thread_create *create, pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    return create_inheriting(create, tpsl_current, thread, attr, routine, argument);
}

/* As code of an instance calls it. By the process's function, which may be a sanitizer's
 * that must know all threads. */
int tpsl_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    return create_inheriting(tpsl_process_symbol("pthread_create", NULL), tpsl_asking(__builtin_return_address(0)), thread, attr, routine, argument);
}
