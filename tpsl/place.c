// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Where a rank's thread runs. */
#include "dispatch.h"

#include <sched.h>

static cpu_set_t initial; /* allowed CPUs when the program started */

__attribute__((constructor(101))) static void remember_mask(void)
{
    sched_getaffinity(0, sizeof initial, &initial);
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
