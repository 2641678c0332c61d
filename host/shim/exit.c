// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions that end a rank's program, and what they call before. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

/* libc has the destructors of a thread's C++ objects, and runs them from its own exit. */
void tpsl_thread_locals_end(void)
{
    void (*destroy)(void) = dlsym(RTLD_DEFAULT, "__call_tls_dtors");
    if (destroy)
        destroy();
}

static int exit_status; /* the argument of exit */

void exit(int status)
{
    exit_status = status;
    tpsl_thread_locals_end();
    tpsl_rank_finish();
    tpsl_streams_flush();
    _exit(status);
}

/* It makes only system calls, because signal handlers call it. */
void _exit(int status)
{
    tpsl_rank_rest();
    for (;;)
        tpsl_kernel()(SYS_exit_group, status);
}

void _Exit(int status) __attribute__((alias("_exit")));

struct on_exit {
    void (*function)(int, void *);
    void *argument;
};

static void call_on_exit(void *data)
{
    struct on_exit *o = data;
    o->function(exit_status, o->argument);
}

extern void *__dso_handle;
int __cxa_atexit(void (*)(void *), void *, void *);

int on_exit(void (*function)(int, void *), void *argument)
{
    struct on_exit *o = malloc(sizeof *o);
    if (!o)
        return -1;
    *o = (struct on_exit){function, argument};
    return __cxa_atexit(call_on_exit, o, &__dso_handle);
}

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
