// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Locks that all ranks of a process meet at. Where the ranks are more than the CPUs, a rank may lose its CPU while it has such a
 * lock, and then get it back only after the time slices of all ranks that poll. Processes would not meet there at all.
 *
 * - Who spins would use up its time slice. So it yields.
 * - Who sleeps until it is woken would get a CPU that much later, and the next one after that: the lock would pass from rank
 *   to rank at the pace of time slices, though nobody has it for long. So nobody is woken; whoever runs gets the lock.
 * - Who only yields would keep an owner with a lower real-time priority from running. So in the end it sleeps for a short time.
 */
#include "libc.h"

#include <sched.h>
#include <time.h>

enum {
    PAUSES = 200, /* more than such a lock is held for by a rank that has a CPU */
    YIELDS = 200,
    SLEEP_NS = 50000,
};

static void give_way(int round)
{
    if (round < PAUSES)
        __builtin_ia32_pause();
    else if (round < PAUSES + YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
}

static int next(int round)
{
    return round < PAUSES + YIELDS ? round + 1 : round;
}

/* The lock is given back by pthread_mutex_unlock. */
void tpsl_mutex_lock(pthread_mutex_t *lock)
{
    for (int round = 0; pthread_mutex_trylock(lock) != 0; round = next(round))
        give_way(round);
}

/* pthread_spin_lock of instances. libucm is placed once, so an unmap by one rank makes its thread take the lock of every
 * instance's registration cache. */
int tpsl_spin_lock(pthread_spinlock_t *lock)
{
    for (int round = 0; pthread_spin_trylock(lock) != 0; round = next(round))
        give_way(round);
    return 0;
}
