// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Less common functions that end a program. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim.h"

static struct handler {
    struct handler *older;
    void (*function)(void);
} *handlers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* at_quick_exit calls it. libc's list has the handlers of all ranks, and all of them would run. */
int __cxa_at_quick_exit(void (*function)(void *), void *dso)
{
    struct handler *h = malloc(sizeof *h);
    if (!h)
        return -1;
    pthread_mutex_lock(&lock);
    *h = (struct handler){handlers, (void (*)(void))function};
    handlers = h;
    pthread_mutex_unlock(&lock);
    return 0;
}

void quick_exit(int status)
{
    for (struct handler *h = handlers; h; h = h->older)
        h->function();
    _exit(status);
}

/* libc's abort keeps its progress in one variable for all ranks. */
void abort(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGABRT);
    signal(SIGABRT, SIG_DFL); /* the program's handler has returned */
    raise(SIGABRT);
    _exit(127);
}
