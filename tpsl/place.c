// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Where a rank's thread runs, and what the process may use. */
#include "dispatch.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static cpu_set_t initial; /* allowed CPUs when the program started */

/* The Go runtime reserves 1.6 GB of address space, and aborts in its own words where
 * `ulimit -v` forbids it; the program and one instance want the rest. */
enum { ADDRESS_SPACE_MIB = 2048 };

__attribute__((constructor(101))) static void at_load(void)
{
    struct rlimit r;
    sched_getaffinity(0, sizeof initial, &initial);
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur >> 20 < ADDRESS_SPACE_MIB) {
        char line[160];
        int n = snprintf(line, sizeof line, "tpsl: the address-space limit of %llu MiB (ulimit -v) is too small: %d MiB are needed; raise it\n",
                         (unsigned long long)r.rlim_cur >> 20, ADDRESS_SPACE_MIB);
        (void)!write(STDERR_FILENO, line, (size_t)n);
        _exit(1);
    }
}

/* Adds "a" or "a-b" at *p to the set; false: neither. */
static bool add_range(const char **p, cpu_set_t *set)
{
    char *end;
    unsigned long first = strtoul(*p, &end, 10), last = first;
    if (end == *p)
        return false;
    if (*end == '-') {
        const char *second = end + 1;
        last = strtoul(second, &end, 10);
        if (end == second)
            return false;
    }
    for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
        CPU_SET(cpu, set);
    *p = end;
    return true;
}

static bool parse_list(const char *cpus, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (const char *p = cpus; add_range(&p, set) && *p == ',';)
        p++;
    return CPU_COUNT(set) > 0;
}

/* Whether a mask is nobody's choice: the one that the program started with, or one that
 * the thread took over from a thread that we pinned. */
static bool is_ours(const cpu_set_t *mask)
{
    cpu_set_t pinned;
    if (CPU_EQUAL(mask, &initial))
        return true;
    for (int i = 0; i < tpsl_endpoints_count(); i++) {
        const char *cpus = tpsl_endpoint_at(i)->cpus;
        if (cpus && parse_list(cpus, &pinned) && CPU_EQUAL(mask, &pinned))
            return true;
    }
    return false;
}

void tpsl_pin(const struct tpsl_endpoint *ep)
{
    cpu_set_t now, want;
    if (ep->cpus && parse_list(ep->cpus, &want) && sched_getaffinity(0, sizeof now, &now) == 0 && is_ours(&now))
        sched_setaffinity(0, sizeof want, &want); /* a CPU that is gone: run anywhere */
}
