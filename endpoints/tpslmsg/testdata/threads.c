/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * threads: what threads may do with ports, and what they may not; time-outs; the end of a job while threads are in calls.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "fixture.h"

enum { THREADS = 4, MESSAGES = 5000, BATCH = 8, COMERS = 200 };

static tpslmsg_port port;

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void in_threads(int n, void *(*f)(void *))
{
    pthread_t all[THREADS];
    for (int i = 0; i < n; i++)
        NEED(pthread_create(&all[i], NULL, f, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < n; i++)
        pthread_join(all[i], NULL);
}

/* A reap that finds nothing returns when its time is over, and uses little of a processor meanwhile. */
static void time_outs(void)
{
    tpslmsg_job job = start(1, 0);
    struct tpslmsg_completion c;
    port = open_port(job, 0);
    NEED(tpslmsg_reap(port, &c, 1, 1, 0) == 0);
    double at = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    NEED(tpslmsg_reap(port, &c, 1, 1, 0.5) == 0);
    at = seconds(CLOCK_MONOTONIC) - at;
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    NEED(at >= 0.5);
    NEED(used < 0.25);
    struct tpslmsg_op o = {.kind = TPSLMSG_SEND, .cookie = 3};
    NEED(tpslmsg_post(port, &o, 1) == 1);
    NEED(tpslmsg_reap(port, &c, 0, 1, 60) <= 1); /* it does not wait for what is not wanted */
    struct tpslmsg_completion two[2];
    NEED(tpslmsg_post(port, &o, 1) == 1);
    NEED(tpslmsg_reap(port, two, 2, 2, 0.01) >= 1); /* what there is, when the time is over */
    NEED(tpslmsg_end(job) == 0);
}

static void *wait_for_ever(void *unused)
{
    struct tpslmsg_completion c;
    int n;
    (void)unused;
    while ((n = tpslmsg_reap(port, &c, 1, 1, TPSLMSG_FOREVER)) == TPSLMSG_BUSY)
        ; /* the other thread was faster */
    return (void *)(intptr_t)n;
}

/* A second thread is refused while one is in a call of a port that is not shared. Then the job ends, and with it the call. */
static void second_thread(int shared)
{
    tpslmsg_job job = start(1, shared);
    struct tpslmsg_completion c;
    pthread_t waits;
    void *result;
    int n;
    port = open_port(job, 0);
    NEED(pthread_create(&waits, NULL, wait_for_ever, NULL) == 0);
    while (!shared && (n = tpslmsg_reap(port, &c, 0, 1, 0)) != TPSLMSG_BUSY)
        NEED(n == 0);
    NEED(shared || strstr(tpslmsg_error(), "another thread is in a call of it"));
    NEED(tpslmsg_end(job) == 0);
    pthread_join(waits, &result);
    NEED((int)(intptr_t)result == TPSLMSG_CLOSED);
}

static atomic_int sent, received, signals;
static struct tpslmsg_key key;

static void count(const struct tpslmsg_completion *c)
{
    NEED(c->error == 0);
    atomic_fetch_add(c->signal ? &signals : c->cookie == 1 ? &sent : &received, c->signal || c->cookie);
}

/* Sends to the port that all threads share, with a tag of its own, and takes whatever has ended, also of others. It goes on when its
 * own messages have come, which it sees in its buffers. */
static void *share(void *self)
{
    struct tpslmsg_completion ends[BATCH];
    uint64_t out[BATCH];
    static _Atomic uint64_t in[THREADS][BATCH];
    int tag = (int)(intptr_t)self;
    for (int m = 0; m < MESSAGES; m += BATCH) {
        struct tpslmsg_op ops[2 * BATCH + 2];
        for (int i = 0; i < BATCH; i++) {
            out[i] = (uint64_t)(m + i + 1);
            ops[i] = (struct tpslmsg_op){.kind = TPSLMSG_SEND, .tag = tag, .buffer = &out[i], .bytes = 8, .cookie = 1};
            ops[BATCH + i] = (struct tpslmsg_op){.kind = TPSLMSG_RECEIVE, .tag = tag, .buffer = &in[tag][i], .bytes = 8, .cookie = 2};
        }
        ops[2 * BATCH] = (struct tpslmsg_op){.kind = TPSLMSG_FETCH_ADD, .key = &key, .operand = 1, .bytes = 8};
        ops[2 * BATCH + 1] = (struct tpslmsg_op){.kind = TPSLMSG_PUT_SIGNAL, .key = &key, .offset = 8};
        NEED(tpslmsg_post(port, ops, 2 * BATCH + 2) == 2 * BATCH + 2);
        for (int i = 0; i < BATCH; i++) {
            while (atomic_load(&in[tag][i]) != out[i]) {
                int n = tpslmsg_reap(port, ends, 0, BATCH, 0);
                NEED(n >= 0);
                while (n > 0)
                    count(&ends[--n]);
            }
        }
    }
    return NULL;
}

static void shared_port(void)
{
    tpslmsg_job job = start(1, 1);
    static _Atomic uint64_t region[2];
    struct tpslmsg_completion c;
    port = open_port(job, 0);
    NEED(tpslmsg_register(port, region, sizeof region, &key) == 0);
    in_threads(THREADS, share);
    while (tpslmsg_reap(port, &c, 1, 1, 0) == 1)
        count(&c);
    int all = THREADS * MESSAGES, batches = all / BATCH;
    NEED(sent == all && received == all && signals == batches && region[0] == (uint64_t)batches);
    NEED(tpslmsg_unregister(port, &key) == 0);
    NEED(tpslmsg_end(job) == 0);
}

static tpslmsg_job of_comers;

static void *come_and_go(void *rank)
{
    tpslmsg_port own = open_port(of_comers, (int)(intptr_t)rank);
    struct tpslmsg_op both[2] = {{.kind = TPSLMSG_SEND, .peer = (int)(intptr_t)rank}, {.kind = TPSLMSG_RECEIVE, .peer = (int)(intptr_t)rank}};
    struct tpslmsg_completion ends[2];
    NEED(tpslmsg_post(own, both, 2) == 2);
    NEED(tpslmsg_reap(own, ends, 2, 2, 60) == 2);
    return NULL;
}

static int threads_of_process(void)
{
    int n = -2;
    DIR *d = opendir("/proc/self/task");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Threads come, make calls and go, and leave no thread of the runtime behind. */
static void comers(void)
{
    of_comers = start(THREADS, 0);
    for (int i = 0; i < COMERS / THREADS; i++)
        in_threads(THREADS, come_and_go);
    NEED(threads_of_process() < 30);
    NEED(tpslmsg_end(of_comers) == 0);
}

int main(void)
{
    time_outs();
    second_thread(0);
    second_thread(1);
    shared_port();
    comers();
    puts("threads: right");
    return 0;
}
