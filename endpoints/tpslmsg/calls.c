// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The functions of tpslmsg.h. A thread that waits does so here, and not in Go: there it would keep one of the
 * runtime's processors, or be woken by another thread of the runtime.
 */
#include "tpslmsg.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "_cgo_export.h"

enum {
    TEXT = 512,      /* bytes of a thread's error, as in errors_unsafe.go */
    PORTS = 1 << 16, /* of a process */
    YIELDS = 16,     /* vain rounds of polls, of 20 us each, before a waiting thread sleeps between them */
    NAP = 20 * 1000, /* ns of its sleep */
    BUSY = 2         /* waitsBusy of exports.go */
};

static const double century = 3155760e3; /* s: as good as for ever */

static _Thread_local char error_text[TEXT];
static int forked; /* in a child made by fork, where Go's threads are not */

static void note_fork(void)
{
    forked = 1;
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

/* Keeps the text of an error, and returns its code. */
__attribute__((format(printf, 2, 3))) static int refuse(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_text, TEXT, format, arguments);
    va_end(arguments);
    return code;
}

#define REFUSE_IF(wrong, ...)                             \
    do {                                                  \
        if (wrong)                                        \
            return refuse(TPSLMSG_INVALID, __VA_ARGS__);  \
    } while (0)

#define REFUSE_FORKED                                                                                                             \
    do {                                                                                                                          \
        if (forked)                                                                                                               \
            return refuse(TPSLMSG_FORKED, "this process is a child made by fork, and has no job: make calls in its parent, or execute a program"); \
    } while (0)

#define REFUSE_TIMEOUT(t) REFUSE_IF(!((t) >= 0), "the time-out is %g s: take one from 0 on, or TPSLMSG_FOREVER", t)

const char *tpslmsg_text(int code)
{
    switch (code) {
    case TPSLMSG_OK:
        return "no error";
    case TPSLMSG_INVALID:
        return "an argument is wrong";
    case TPSLMSG_CLOSED:
        return "the job has ended";
    case TPSLMSG_BUSY:
        return "another thread is in a call of the port, which is not shared";
    case TPSLMSG_FORKED:
        return "the process is a child made by fork, and has no job";
    case TPSLMSG_LAUNCHER:
        return "the job could not be started or ended together with its other processes";
    case TPSLMSG_TRUNCATED:
        return "the message is longer than the buffer";
    case TPSLMSG_GONE:
        return "the process of the other port has ended";
    case TPSLMSG_NO_REGION:
        return "the key names no region: it is unregistered, or the key is wrong";
    }
    return "no code of this library";
}

const char *tpslmsg_error(void)
{
    return error_text;
}

static int64_t in_nanoseconds(double seconds)
{
    return (int64_t)((seconds < century ? seconds : century) * 1e9);
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

int tpslmsg_start(const struct tpslmsg_options *options, double timeout, tpslmsg_job *job)
{
    int ports = 1, shared = 0;
    REFUSE_FORKED;
    REFUSE_IF(!job, "start a job: job is NULL");
    REFUSE_TIMEOUT(timeout);
    if (options) {
        REFUSE_IF(options->size != sizeof *options, "start a job: options.size is %zu: set it to sizeof(struct tpslmsg_options), which is %zu",
                  options->size, sizeof *options);
        REFUSE_IF(options->ports < 0 || options->ports > PORTS, "start a job: %d ports: a process has 1 to %d", options->ports, PORTS);
        REFUSE_IF(options->shared != 0 && options->shared != 1, "start a job: options.shared is %d: take 0 or 1", options->shared);
        if (options->ports)
            ports = options->ports;
        shared = options->shared;
    }
    return tpsl_msg_start(ports, shared, in_nanoseconds(timeout), &job->number, error_text);
}

int tpslmsg_end(tpslmsg_job job)
{
    REFUSE_FORKED;
    return tpsl_msg_end(job.number, error_text);
}

int tpslmsg_ranks(tpslmsg_job job, int *first, int *here, int *size)
{
    int unwanted;
    REFUSE_FORKED;
    return tpsl_msg_ranks(job.number, first ? first : &unwanted, here ? here : &unwanted, size ? size : &unwanted, error_text);
}

int tpslmsg_open(tpslmsg_job job, int rank, tpslmsg_port *port)
{
    REFUSE_FORKED;
    REFUSE_IF(!port, "open a port: port is NULL");
    return tpsl_msg_open(job.number, rank, &port->number, error_text);
}

int tpslmsg_register(tpslmsg_port port, void *memory, size_t bytes, struct tpslmsg_key *key)
{
    REFUSE_FORKED;
    REFUSE_IF(!key, "register memory: key is NULL");
    return tpsl_msg_register(port.number, memory, bytes, key, error_text);
}

int tpslmsg_unregister(tpslmsg_port port, const struct tpslmsg_key *key)
{
    REFUSE_FORKED;
    REFUSE_IF(!key, "unregister memory: key is NULL");
    return tpsl_msg_unregister(port.number, (struct tpslmsg_key *)key, error_text);
}

int tpslmsg_post(tpslmsg_port port, const struct tpslmsg_op *ops, int count)
{
    REFUSE_FORKED;
    REFUSE_IF(!ops, "post operations: ops is NULL");
    REFUSE_IF(count < 1, "post %d operations: post at least one", count);
    return tpsl_msg_post(port.number, (struct tpslmsg_op *)ops, count, error_text);
}

int tpslmsg_reap(tpslmsg_port port, struct tpslmsg_completion *completions, int least, int most, double timeout)
{
    REFUSE_FORKED;
    REFUSE_IF(!completions, "take completions: completions is NULL");
    REFUSE_IF(most < 1 || least < 0 || least > most, "take %d to %d completions: most is at least 1, and least is from 0 to most", least, most);
    REFUSE_TIMEOUT(timeout);
    int have = 0, waits = 0, over = timeout == 0;
    int64_t limit = in_nanoseconds(timeout), start = over ? 0 : now();
    for (int rounds = 0;;) {
        int n = tpsl_msg_reap(port.number, completions + have, least - have, most - have, over, &waits, error_text);
        if (n < 0)
            return have > 0 ? have : n;
        have += n;
        if (!waits)
            return have;
        over = now() - start >= limit;
        if (over || waits == BUSY)
            continue;
        if (rounds++ < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    }
}
