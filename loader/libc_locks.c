// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Locks that all ranks of a process meet at. Where the ranks are more than the CPUs, a rank may lose its CPU while it has such a
 * lock, and then get it back only after the time slices of all ranks that poll. Processes would not meet there at all.
 *
 * - Who spins would use up its time slice. So it yields.
 * - Who sleeps until it is woken would get a CPU that much later, and the next one after that: the lock would pass from rank
 *   to rank at the pace of time slices, though nobody has it for long. So nobody is woken; whoever runs gets the lock.
 * - Who only yields would keep an owner with a lower real-time priority from running. So in the end it sleeps for a short time.
 * - Hundreds of ranks that wake up after a short time each would leave no CPU for the owner. So each sleep is longer than the last,
 *   but not by much: nobody sleeps for much longer than it has to wait.
 */
#include "libc.h"

#include <sched.h>
#include <time.h>

enum {
    PAUSES = 200, /* more than such a lock is held for by a rank that has a CPU */
    YIELDS = 200,
    SHORTEST_NS = 50000,
    LONGEST_NS = 10000000,
};

struct wait {
    int rounds; /* without a sleep */
    long sleep; /* nanoseconds, the next one */
};

static const struct wait begun = {.sleep = SHORTEST_NS};

static void give_way(struct wait *w)
{
    if (w->rounds < PAUSES) {
        __builtin_ia32_pause();
        w->rounds++;
    } else if (w->rounds < PAUSES + YIELDS) {
        sched_yield();
        w->rounds++;
    } else {
        nanosleep(&(struct timespec){.tv_nsec = w->sleep}, NULL);
        w->sleep = w->sleep < LONGEST_NS ? w->sleep + w->sleep / 4 : LONGEST_NS;
    }
}

/* The lock is given back by pthread_mutex_unlock. */
void tpsl_mutex_lock(pthread_mutex_t *lock)
{
    for (struct wait w = begun; pthread_mutex_trylock(lock) != 0;)
        give_way(&w);
}

/* pthread_spin_lock of instances. libucm is placed once, so an unmap by one rank makes its thread take the lock of every
 * instance's registration cache. */
int tpsl_spin_lock(pthread_spinlock_t *lock)
{
    for (struct wait w = begun; pthread_spin_trylock(lock) != 0;)
        give_way(&w);
    return 0;
}
