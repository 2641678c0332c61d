// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Where a rank's thread runs, and what the process may use. */
#include "dispatch.h"

#include <sched.h>
#include <stdio.h>
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

/* Whether a mask is nobody's choice: the one that the program started with, or one that
 * the thread took over from a thread that we pinned. */
static bool is_ours(const cpu_set_t *mask)
{
    cpu_set_t pinned;
    if (CPU_EQUAL(mask, &initial))
        return true;
    for (int i = 0; i < tpsl_endpoints_count(); i++) {
        const char *cpus = tpsl_endpoint_at(i)->cpus;
        if (cpus && tpsl_parse_cpus(cpus, &pinned) && CPU_EQUAL(mask, &pinned))
            return true;
    }
    return false;
}

void tpsl_pin(const struct tpsl_endpoint *ep)
{
    cpu_set_t now, want;
    if (ep->cpus && tpsl_parse_cpus(ep->cpus, &want) && sched_getaffinity(0, sizeof now, &now) == 0 && is_ours(&now))
        sched_setaffinity(0, sizeof want, &want); /* a CPU that is gone: run anywhere */
}
