// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Ranks ask the host process to run what needs Go, which is dlopen. The Go runtime sends signals to its
 * threads, and cannot do that across processes. Locks and conditions of libc do work between the
 * processes, as their futexes go by the address space. A child that a rank makes by fork has a copy of
 * the memory, and no thread that serves in it. */
#include "host.h"

#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct request {
    tpsl_step *step;
    void *argument;
    cpu_set_t cpus; /* of who asks: what is loaded is touched there first */
} *pending;

static void *serve(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!pending)
            pthread_cond_wait(&changed, &lock);
        sched_setaffinity(0, sizeof pending->cpus, &pending->cpus);
        pending->step(pending->argument);
        pending = NULL;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

void tpsl_in_host(tpsl_step *step, void *argument)
{
    struct request mine = {.step = step, .argument = argument};
    if (getpid() == tpsl_host.pid) {
        step(argument);
        return;
    }
    sched_getaffinity(0, sizeof mine.cpus, &mine.cpus);
    pthread_mutex_lock(&lock);
    while (pending)
        pthread_cond_wait(&changed, &lock);
    pending = &mine;
    pthread_cond_broadcast(&changed);
    while (pending == &mine)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void refuse_in_child(void)
{
    tpsl_refuse_opens("a child that a rank of private mode makes by fork cannot load libraries; load them before, or execute a program in the child");
}

bool tpsl_service_start(void)
{
    pthread_t thread;
    pthread_atfork(NULL, NULL, refuse_in_child);
    tpsl_set_runner(tpsl_in_host);
    return pthread_create(&thread, NULL, serve, NULL) == 0;
}
