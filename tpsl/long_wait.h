/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How a rank that waits leaves its CPU to others, where ranks are more than the CPUs. It yields at first. A long wait is slept
 * through in parts of what it has lasted, so that many ranks that wait leave the CPUs to the few that work, and none
 * oversleeps by much. The parts grow with the wait, because hundreds of ranks that wake up every 0.2 ms leave no CPU for others.
 * The figures are by measurement: docs/performance.md.
 */
#ifndef TPSL_LONG_WAIT_H
#define TPSL_LONG_WAIT_H

#include <time.h>

enum {
    LONG_NS = 400000,     /* wait, before the first sleep: a sleep takes 50 us longer than it is told to */
    SHORT_NS = 200000,    /* sleep, up to which it is an eighth of the wait, and above which a 64th */
    LONGEST_NS = 16000000,/* sleep; a tick of the scheduler is 1 to 10 ms */
};

static inline long nanoseconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Sleeps for a part of a wait, and for longest ns at most. */
static inline void sleep_part(long waited, long longest)
{
    long ns = waited / 8;
    if (ns > SHORT_NS)
        ns = waited / 64 > SHORT_NS ? waited / 64 : SHORT_NS;
    nanosleep(&(struct timespec){.tv_nsec = ns < longest ? ns : longest}, NULL);
}

#endif
