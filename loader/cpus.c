// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Lists of CPUs as the launcher writes them: "0-1,4". */
#include "loader.h"

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

bool tpsl_parse_cpus(const char *cpus, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (const char *p = cpus; add_range(&p, set) && *p == ',';)
        p++;
    return CPU_COUNT(set) > 0;
}
