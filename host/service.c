// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Ranks ask the host process to run what needs Go, which is dlopen. The Go runtime sends signals to its
 * threads, and cannot do that across processes. Locks and conditions of libc do work between the
 * processes, as their futexes go by the address space. A child that a rank makes by fork has a copy of
 * the memory, and no thread that serves in it. */
#include "host.h"

#include <semaphore.h>
#include <unistd.h>

/* Each rank waits for its own request only. If all waited for one condition, each request would wake all ranks. */
struct request {
    struct request *next;
    tpsl_step *step;
    void *argument;
    cpu_set_t cpus; /* of who asks: what is loaded is touched there first */
    sem_t done;
};

static struct request *first, **end = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t waiting; /* as many as there are requests */

static void wait_for(sem_t *s)
{
    while (sem_wait(s) != 0)
        ; /* a signal handler has run */
}

static struct request *take(void)
{
    pthread_mutex_lock(&lock);
    struct request *r = first;
    first = r->next;
    if (!first)
        end = &first;
    pthread_mutex_unlock(&lock);
    return r;
}

static void *serve(void *unused)
{
    for (;;) {
        wait_for(&waiting);
        struct request *r = take();
        sched_setaffinity(0, sizeof r->cpus, &r->cpus);
        r->step(r->argument);
        sem_post(&r->done);
    }
    return NULL;
}

/* A thread that is cancelled as it waits would leave its request behind, which is on its stack. */
void tpsl_in_host(tpsl_step *step, void *argument)
{
    struct request mine = {.step = step, .argument = argument};
    int before;
    if (getpid() == tpsl_host.pid) {
        step(argument);
        return;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    sched_getaffinity(0, sizeof mine.cpus, &mine.cpus);
    sem_init(&mine.done, 0, 0);
    pthread_mutex_lock(&lock);
    *end = &mine;
    end = &mine.next;
    pthread_mutex_unlock(&lock);
    sem_post(&waiting);
    wait_for(&mine.done);
    pthread_setcancelstate(before, NULL);
}

static void refuse_in_child(void)
{
    tpsl_refuse_opens("a child that a rank of private mode makes by fork cannot load libraries; load them before, or execute a program in the child");
}

bool tpsl_service_start(void)
{
    pthread_t thread;
    pthread_atfork(NULL, NULL, refuse_in_child);
    sem_init(&waiting, 0, 0);
    tpsl_set_runner(tpsl_in_host);
    return pthread_create(&thread, NULL, serve, NULL) == 0;
}
