// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The gate stands between the code of instances that are processes of their own and the functions of
 * libc and ld.so that take a lock of the whole address space.
 *
 * A child of fork has a copy of these locks, and of what they guard. If a thread of another instance
 * was inside such a function, the child would wait for that thread for ever, or read what it had half
 * written. So a thread counts itself in before it calls such a function, and out afterwards. Fork
 * closes the gate, waits until the threads of other instances are outside, and opens the gate again.
 *
 * Each instance has a counter of its own, so instances do not share a cache line. A thread adds to its
 * counter and then looks at the gate; fork closes the gate and then looks at the counters. Both orders
 * are sequentially consistent, so one of the two sees the other. An addition takes 5 ns, which is
 * little compared with these functions.
 *
 * A thread that is inside already, in a callback or a signal handler, passes a closed gate: fork waits
 * for it anyway.
 */
#include "object.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OPEN };
static atomic_int gate; /* the process that has closed the gate, or OPEN */
static bool in_use;
static __thread unsigned depth __attribute__((tls_model("initial-exec")));  /* how many such functions the thread is inside */
static __thread bool closed_by_me __attribute__((tls_model("initial-exec")));
static __thread void (*then)(void) __attribute__((tls_model("initial-exec"))); /* what it does when it is outside again, or NULL */

static void wait_on(atomic_int *word, int value, const struct timespec *limit)
{
    int error = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
    errno = error;
}

static void wake(atomic_int *word)
{
    int error = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = error;
}

void tpsl_gate_use(void)
{
    in_use = true;
}

static void count_out(struct tpsl_instance *in)
{
    atomic_fetch_sub(&in->inside, 1);
    if (atomic_load(&gate) != OPEN)
        wake(&in->inside);
}

struct tpsl_instance *tpsl_gate_enter(void)
{
    struct tpsl_instance *in = tpsl_current;
    if (!in_use || !in)
        return NULL;
    for (;;) {
        atomic_fetch_add(&in->inside, 1);
        int closer = atomic_load(&gate);
        if (closer == OPEN || depth > 0 || closed_by_me)
            break;
        count_out(in);
        wait_on(&gate, closer, NULL);
    }
    depth++;
    return in;
}

void tpsl_gate_leave(struct tpsl_instance **in)
{
    if (!*in)
        return;
    depth--;
    count_out(*in);
    void (*call)(void) = then;
    if (call && depth == 0) {
        then = NULL;
        call();
    }
}

void tpsl_gate_then(void (*call)(void))
{
    then = call;
}

bool tpsl_gate_inside(void)
{
    return depth > 0 || closed_by_me;
}

bool tpsl_gate_close(void)
{
    int closer = OPEN;
    if (closed_by_me)
        return false;
    closed_by_me = true;
    while (!atomic_compare_exchange_strong(&gate, &closer, getpid())) {
        wait_on(&gate, closer, NULL);
        closer = OPEN;
    }
    return true;
}

bool tpsl_gate_await(struct tpsl_instance *in, const struct timespec *limit)
{
    int n = atomic_load(&in->inside);
    if (n > 0)
        wait_on(&in->inside, n, limit);
    return atomic_load(&in->inside) == 0;
}

void tpsl_gate_open(void)
{
    int closer = getpid();
    atomic_compare_exchange_strong(&gate, &closer, OPEN);
    closed_by_me = false;
    wake(&gate);
}

void tpsl_gate_count(struct tpsl_instance *in)
{
    atomic_store(&in->inside, in == tpsl_current ? (int)depth : 0);
    atomic_store(&gate, OPEN);
    closed_by_me = false;
}
