// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Which CPUs the thread of a rank runs on. */
#include "process.h"

#include <stdlib.h>

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

/* Lists of CPUs are as the launcher writes them: "0-1,4". */
bool tpsl_parse_cpus(const char *cpus, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (const char *p = cpus; add_range(&p, set) && *p == ',';)
        p++;
    return CPU_COUNT(set) > 0;
}

static cpu_set_t initial; /* allowed CPUs when the program started */

__attribute__((constructor(101))) static void remember_mask(void)
{
    sched_getaffinity(0, sizeof initial, &initial);
}

bool tpsl_was_allowed(int cpu)
{
    return CPU_COUNT(&initial) == 0 || (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &initial));
}

/* Whether a mask is nobody's choice: the one that the program started with, or one that
 * the thread took over from a thread that we pinned. */
static bool is_ours(const struct tpsl_job *job, const cpu_set_t *mask)
{
    cpu_set_t pinned;
    if (CPU_EQUAL(mask, &initial))
        return true;
    for (int i = 0; i < job->nranks; i++) {
        const struct tpsl_rank *r = &job->ranks[i];
        if (atomic_load(&r->pinned) && tpsl_parse_cpus(r->cpus, &pinned) && CPU_EQUAL(mask, &pinned))
            return true;
    }
    return false;
}

void tpsl_rank_pin(const struct tpsl_rank *r)
{
    cpu_set_t cpus;
    if (r->cpus && tpsl_parse_cpus(r->cpus, &cpus))
        sched_setaffinity(0, sizeof cpus, &cpus); /* a CPU that is gone: run anywhere */
}

void tpsl_rank_pin_thread(const struct tpsl_job *job, struct tpsl_rank *r)
{
    cpu_set_t now;
    if (!r->cpus)
        return;
    atomic_store(&r->pinned, true);
    if (sched_getaffinity(0, sizeof now, &now) == 0 && is_ours(job, &now))
        tpsl_rank_pin(r);
}
