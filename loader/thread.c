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

struct birth {
    void *(*routine)(void *);
    void *argument;
    struct tpsl_instance *instance;
    void *state;
};

static void *enter(void *arg)
{
    struct birth b = *(struct birth *)arg;
    free(arg);
    tpsl_current = b.instance;
    if (b.state)
        hooks->enter(b.state);
    return b.routine(b.argument);
}

int tpsl_thread_create_inheriting(tpsl_thread_create *create, pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    struct birth *b = malloc(sizeof *b);
    if (!b)
        return EAGAIN;
    *b = (struct birth){routine, argument, tpsl_current, hooks ? hooks->capture() : NULL};
    int rc = create ? create(thread, attr, enter, b) : ENOSYS;
    if (rc)
        free(b);
    return rc;
}

/* By the process's function, which may be a sanitizer's that must know all threads. */
int tpsl_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    return tpsl_thread_create_inheriting(tpsl_process_symbol("pthread_create", NULL), thread, attr, routine, argument);
}
