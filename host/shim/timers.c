// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Timers that call a function, timer_create(2). libc has one thread for all such timers. It is in the
 * process of the rank that used one first, and the kernel sends it no signals of other ranks. Here
 * each timer has a thread of its rank that waits for the signal of the timer. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

/* Each timer blocks the signal in its own thread. Other threads need not block it. */
#define WAKE SIGRTMAX

struct timer {
    struct timer *next;
    timer_t id;
    struct sigevent event;
    pthread_t thread;
    pid_t number; /* of the thread */
    sem_t ready;
};
static struct timer *timers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *call(void *data)
{
    struct sigevent e = *(struct sigevent *)data;
    free(data);
    e.sigev_notify_function(e.sigev_value);
    return NULL;
}

static void expired(const struct timer *t)
{
    pthread_t thread;
    struct sigevent *e = malloc(sizeof *e);
    if (!e)
        return;
    *e = t->event;
    if (pthread_create(&thread, e->sigev_notify_attributes, call, e) == 0)
        pthread_detach(thread);
    else
        free(e);
}

/* It runs until a signal that does not come from the timer tells it to end. */
static void *serve(void *data)
{
    struct timer *t = data;
    sigset_t wake;
    siginfo_t info = {0};
    sigemptyset(&wake);
    sigaddset(&wake, WAKE);
    t->number = gettid();
    sem_post(&t->ready);
    do {
        if (sigwaitinfo(&wake, &info) == WAKE && info.si_code == SI_TIMER)
            expired(t);
    } while (info.si_code != SI_QUEUE);
    sem_destroy(&t->ready);
    free(t);
    return NULL;
}

static int start(struct timer *t)
{
    sigset_t all, before;
    sem_init(&t->ready, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&t->thread, NULL, serve, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return error;
    pthread_detach(t->thread);
    while (sem_wait(&t->ready) != 0)
        ;
    return 0;
}

static void end(struct timer *t)
{
    pthread_sigqueue(t->thread, WAKE, (union sigval){0});
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict id)
{
    if (!event || event->sigev_notify != SIGEV_THREAD)
        return BEHIND(timer_create)(clock, event, id);
    struct timer *t = calloc(1, sizeof *t);
    int error = t ? 0 : EAGAIN;
    if (t) {
        t->event = *event;
        if ((error = start(t)))
            free(t);
    }
    if (error) {
        errno = error;
        return -1;
    }
    struct sigevent signal = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE, ._sigev_un._tid = t->number};
    if (BEHIND(timer_create)(clock, &signal, id) != 0) {
        error = errno;
        end(t);
        errno = error;
        return -1;
    }
    t->id = *id;
    pthread_mutex_lock(&lock);
    t->next = timers;
    timers = t;
    pthread_mutex_unlock(&lock);
    return 0;
}

int timer_delete(timer_t id)
{
    int result = BEHIND(timer_delete)(id);
    pthread_mutex_lock(&lock);
    struct timer **link = &timers, *gone;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    if ((gone = *link))
        *link = gone->next;
    pthread_mutex_unlock(&lock);
    if (gone)
        end(gone);
    return result;
}
