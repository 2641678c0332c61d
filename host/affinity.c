// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Pins the calling thread to a CPU list, "0-1,4". A CPU that is gone: run anywhere. */
void tpsl_pin_to(const char *cpus)
{
    cpu_set_t set;
    unsigned first, last;
    int used;
    CPU_ZERO(&set);
    for (const char *p = cpus; sscanf(p, "%u%n", &first, &used) == 1; p += *p == ',') {
        p += used;
        last = first;
        if (sscanf(p, "-%u%n", &last, &used) == 1)
            p += used;
        for (unsigned cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, &set);
    }
    sched_setaffinity(0, sizeof set, &set);
}
