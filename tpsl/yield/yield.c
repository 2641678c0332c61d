// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libtpslyield: ranks that are more than the CPUs give way while they have nothing to do.
 *
 * An MPI library that polls keeps its CPU for a whole tick of the scheduler while the
 * rank that it waits for has none. This stands in front of UCX in each instance, so its
 * variables are a rank's own. After some rounds that found nothing the rank yields, and
 * sleeps in a long wait (long_wait.h).
 *
 * A call that only looks, as MPI_Test, sleeps for a short time at most. A program may look a
 * fixed number of times before it does something else, and all its looks in a row are one wait
 * here. So this stands in front of these calls of MPI as well.
 */
#include "../../process/behind.h"
#include "../long_wait.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* By measurement: docs/performance.md. */
enum {
    ROUNDS = 8,      /* that find nothing before the first yield */
    APART_NS = 2000, /* rounds so far apart are no wait: the program computes between them, if only little */
};

static struct {
    int rounds;       /* that found nothing, one soon after the other */
    long began, last; /* first and last of them: nanoseconds */
    bool slept;       /* after the last of them */
    pthread_t thread; /* that made them */
    bool threads;     /* several threads call MPI: one that sleeps here may hold the others' lock */
} idle;

/* Tells whether the thread is still in the wait in which it was in the last round. A round after a sleep may be long because the
 * caches are cold, or because the thread gets no CPU. Hundreds of ranks in a long wait would take each such round for the
 * program's own computation, and would yield again for as long as before the first sleep. So the round after it decides. */
static bool still_waits(bool soon, bool slept)
{
    return idle.rounds > 0 && (soon || slept);
}

static _Thread_local int looks; /* calls that only look and that this thread is in: a wrapper of MPI_ may call that of PMPI_ */

static void give_way(void)
{
    long time = nanoseconds_now();
    bool soon = time - idle.last <= APART_NS, slept = idle.slept;
    if (!still_waits(soon, slept)) {
        idle.rounds = 0;
        idle.began = time;
    }
    if (idle.thread && idle.thread != pthread_self())
        idle.threads = true;
    idle.thread = pthread_self();
    idle.rounds++;
    idle.slept = idle.rounds > ROUNDS && time - idle.began > LONG_NS && !idle.threads && soon;
    if (idle.slept)
        sleep_part(time - idle.began, looks > 0 ? SHORT_NS : LONGEST_NS);
    else if (idle.rounds > ROUNDS)
        sched_yield();
    idle.last = idle.rounds > ROUNDS ? nanoseconds_now() : time;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*next)(void *);
    if (next == NULL)
        next = (unsigned (*)(void *))tpsl_behind("ucp_worker_progress", __builtin_return_address(0));
    unsigned found = next(worker);
    if (found)
        idle.rounds = 0;
    else
        give_way();
    return found;
}

/* All arguments are integers and pointers, six at most, which the ABI passes in registers. After an error handler that leaves by longjmp
 * or an exception the rank's sleeps stay short. */
typedef int look_function(long, long, long, long, long, long);

static int look(look_function *next, long a, long b, long c, long d, long e, long f)
{
    looks++;
    int error = next(a, b, c, d, e, f);
    looks--;
    return error;
}

#define LOOK(name) \
    int name(long a, long b, long c, long d, long e, long f) \
    { \
        static look_function *_Atomic next; \
        look_function *function = next; \
        if (function == NULL) \
            next = function = (look_function *)tpsl_behind(#name, __builtin_return_address(0)); \
        return look(function, a, b, c, d, e, f); \
    }
#define LOOKS(name) LOOK(MPI_##name) LOOK(PMPI_##name)

LOOKS(Test)
LOOKS(Testall)
LOOKS(Testany)
LOOKS(Testsome)
LOOKS(Iprobe)
LOOKS(Improbe)
LOOKS(Parrived)
LOOKS(Request_get_status)
LOOKS(Request_get_status_all)
LOOKS(Request_get_status_any)
LOOKS(Request_get_status_some)
LOOKS(Win_test)
