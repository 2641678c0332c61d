// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads that are made inside an instance act for it, whichever function made them. */
#include "object.h"
#include "libc.h"

#include <errno.h>
#include <stdlib.h>

static const struct tpsl_thread_hooks *hooks;

void tpsl_set_thread_hooks(const struct tpsl_thread_hooks *h)
{
    hooks = h;
}

/* What a new thread is given. The thread does not free it: its first call of free would get it an arena
 * of malloc (64 MiB of addresses, a page and a page table), which threads that allocate nothing do not
 * need. */
struct birth {
    void *(*routine)(void *);
    thrd_start_t c11; /* if it is not NULL, it is used in place of routine */
    void *argument;
    struct tpsl_instance *instance;
    void *state;
    struct birth *next; /* in the list of those that were put back */
};

static struct birth *_Atomic spent;

/* This takes no lock, because a child of fork might find the lock held. */
static void put_back(struct birth *b)
{
    b->next = atomic_load(&spent);
    while (!atomic_compare_exchange_weak(&spent, &b->next, b))
        ;
}

/* Returns one of those that were put back. It frees the others, because a thread that starts threads uses malloc anyway. */
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

static __thread bool ends __attribute__((tls_model("initial-exec")));

bool tpsl_thread_ends(void)
{
    return ends;
}

/* This also runs when pthread_exit or a cancellation unwinds the stack. */
static void note_end(bool **thread_ends)
{
    **thread_ends = true;
}

static void *enter(void *arg)
{
    __attribute__((cleanup(note_end), unused)) bool *end = &ends;
    struct birth b = *(struct birth *)arg;
    put_back(arg);
    tpsl_become(b.instance);
    if (b.state)
        hooks->enter(b.state);
    return b.c11 ? (void *)(intptr_t)b.c11(b.argument) : b.routine(b.argument);
}

/* The hook gets a copy of the attributes. It may change them only by pthread_attr_set... functions,
 * because libc's extension of the structure is still the caller's. */
static int create_wide(tpsl_thread_create *create, pthread_t *thread, const pthread_attr_t *attr, struct birth *b)
{
    if (!hooks || !hooks->widen)
        return create(thread, attr, enter, b);
    pthread_attr_t wide;
    int rc = 0;
    if (attr)
        wide = *attr;
    else if ((rc = pthread_getattr_default_np(&wide)) != 0)
        return rc;
    rc = hooks->widen(&wide);
    if (rc == 0)
        rc = create(thread, &wide, enter, b);
    if (!attr)
        pthread_attr_destroy(&wide);
    return rc;
}

/* As `as` says, and then for the instance. */
static int create_inheriting(tpsl_thread_create *create, pthread_t *thread, const pthread_attr_t *attr, struct birth as)
{
    struct birth *b = get();
    if (!b)
        return EAGAIN;
    *b = as;
    b->state = hooks ? hooks->capture() : NULL;
    TPSL_INSIDE; /* the default attributes of the new thread are guarded by a lock of libc */
    int rc = create ? create_wide(create, thread, attr, b) : ENOSYS;
    if (rc)
        free(b);
    return rc;
}

int tpsl_thread_create_inheriting(tpsl_thread_create *create, pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    return create_inheriting(create, thread, attr, (struct birth){.routine = routine, .argument = argument, .instance = tpsl_current});
}

/* pthread_create of the process: a sanitizer in front of libc must know all threads. */
static tpsl_thread_create *of_process(void)
{
    return (tpsl_thread_create *)tpsl_process_symbol("pthread_create", NULL);
}

int tpsl_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    return create_inheriting(of_process(), thread, attr,
                             (struct birth){.routine = routine, .argument = argument, .instance = tpsl_asking(__builtin_return_address(0))});
}

/* libc's thrd_create calls libc's own pthread_create, so it would not see the instance. thrd_join finds
 * the result where pthread_join does. */
int tpsl_thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    int rc = create_inheriting(of_process(), thread, NULL,
                               (struct birth){.c11 = function, .argument = argument, .instance = tpsl_asking(__builtin_return_address(0))});
    return rc == 0 ? thrd_success : rc == ENOMEM ? thrd_nomem : thrd_error;
}
