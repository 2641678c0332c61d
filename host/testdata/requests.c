// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The queue of host/service.c. The host has another process id here, so each thread is a rank. */
#include "service.c"

#include <stdatomic.h>
#include <stdio.h>

enum { RANKS = 8, ROUNDS = 500 };

struct tpsl_host tpsl_host;
static tpsl_runner *runner;
void tpsl_set_runner(tpsl_runner *r) { runner = r; }
void tpsl_refuse_opens(const char *why) {}

static atomic_int wrong, inside;
static pid_t servant;

static void check(const char *what, bool right)
{
    if (!right && wrong++ == 0)
        printf("wrong: %s\n", what);
}

struct work {
    int number, asked, done;
    cpu_set_t cpus;
};

static void serve_one(void *argument)
{
    struct work *w = argument;
    cpu_set_t here;
    check("one at a time", ++inside == 1);
    servant = servant ? servant : gettid();
    check("one thread serves", servant == gettid());
    sched_getaffinity(0, sizeof here, &here);
    check("on the CPUs of who asks", CPU_EQUAL(&here, &w->cpus));
    w->done++;
    inside--;
}

/* Each rank has a CPU of those that there are. */
static void bind(struct work *w)
{
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&w->cpus);
    for (int cpu = 0, nth = w->number % CPU_COUNT(&all); cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && nth-- == 0)
            CPU_SET(cpu, &w->cpus);
    sched_setaffinity(0, sizeof w->cpus, &w->cpus);
}

static void *ask_often(void *argument)
{
    struct work *w = argument;
    bind(w);
    while (w->asked < ROUNDS) {
        runner(serve_one, w);
        check("done before the answer", w->done == ++w->asked);
    }
    return NULL;
}

static void many_requests(void)
{
    pthread_t threads[RANKS];
    struct work works[RANKS] = {0};
    for (int i = 0; i < RANKS; i++) {
        works[i].number = i;
        pthread_create(&threads[i], NULL, ask_often, &works[i]);
    }
    for (int i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        check("each request served once", works[i].done == ROUNDS);
    }
}

/* ---- the order ---- */

static sem_t holding, may_go_on;
static int served[RANKS], nserved;

static void hold(void *unused)
{
    sem_post(&holding);
    wait_for(&may_go_on);
}

static void note(void *number)
{
    served[nserved++] = (int)(intptr_t)number;
}

static void *ask_to_hold(void *unused)
{
    runner(hold, NULL);
    return NULL;
}

static void *ask_to_note(void *number)
{
    runner(note, number);
    return NULL;
}

static int queued(void)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (struct request *r = first; r; r = r->next)
        n++;
    pthread_mutex_unlock(&lock);
    return n;
}

static atomic_int handled;

static void handle(int signal)
{
    handled++;
}

/* All wait behind one request. A signal interrupts the waits of all of them. */
static void requests_in_order(void)
{
    pthread_t holder, threads[RANKS];
    sem_init(&holding, 0, 0);
    sem_init(&may_go_on, 0, 0);
    pthread_create(&holder, NULL, ask_to_hold, NULL);
    wait_for(&holding);
    for (int i = 0; i < RANKS; i++) {
        pthread_create(&threads[i], NULL, ask_to_note, (void *)(intptr_t)i);
        while (queued() <= i)
            usleep(100);
        usleep(1000); /* now it waits */
    }
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle}, NULL);
    for (int i = 0; i < RANKS; i++)
        pthread_kill(threads[i], SIGUSR1);
    while (handled < RANKS)
        usleep(100);
    usleep(10000);
    for (int i = 0; i < RANKS; i++)
        check("waits after a signal", pthread_tryjoin_np(threads[i], NULL) != 0);
    sem_post(&may_go_on);
    pthread_join(holder, NULL);
    for (int i = 0; i < RANKS; i++)
        pthread_join(threads[i], NULL);
    check("each served", nserved == RANKS);
    for (int i = 0; i < RANKS; i++)
        check("in the order of asking", served[i] == i);
}

/* ---- the host itself ---- */

static void take_id(void *id)
{
    *(pid_t *)id = gettid();
}

static void host_asks(void)
{
    pid_t id = 0;
    tpsl_host.pid = getpid();
    runner(take_id, &id);
    check("the host serves itself", id == gettid());
}

int main(void)
{
    tpsl_host.pid = getpid() + 1;
    check("starts", tpsl_service_start());
    many_requests();
    requests_in_order();
    host_asks();
    printf("%d wrong\n", wrong);
    return 0;
}
