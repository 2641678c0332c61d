// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* With each endpoint UCX notes when the process of the peer was created, two or three times. It reads that from /proc, where the
 * kernel also sums up the times of all threads of that process: for a process of many ranks this takes longer than all else, and
 * grows with the cube of the ranks. So this stands in front of UCX, and answers from memory
 *
 * - for the rank's own process, which lives as long as it asks;
 * - for the process that was asked for last, for a short time: UCX asks again much later whether a peer lives.
 */
#include "../../process/behind.h"
#include "../long_wait.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

enum { SOON_NS = 1000000 };

struct answer {
    pid_t pid;
    unsigned long created; /* as UCX tells it; 0: not known */
    long when;             /* nanoseconds */
};

static struct answer own, last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the answers */

static unsigned long ask(pid_t pid, const void *caller)
{
    static unsigned long (*next)(pid_t);
    if (next == NULL)
        next = (unsigned long (*)(pid_t))tpsl_behind("ucs_sys_get_proc_create_time", caller);
    return next(pid);
}

static unsigned long remembered(pid_t pid, const void *caller)
{
    bool is_own = pid == getpid();
    struct answer *a = is_own ? &own : &last;
    if (a->pid != pid || a->created == 0 || (!is_own && nanoseconds_now() - a->when > SOON_NS))
        *a = (struct answer){pid, ask(pid, caller), nanoseconds_now()};
    return a->created;
}

/* Another thread does not wait for the lock. */
unsigned long ucs_sys_get_proc_create_time(pid_t pid)
{
    const void *caller = __builtin_return_address(0);
    if (pthread_mutex_trylock(&lock) != 0)
        return ask(pid, caller);
    unsigned long created = remembered(pid, caller);
    pthread_mutex_unlock(&lock);
    return created;
}
