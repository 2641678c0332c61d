// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Pins its thread as two ranks whose CPUs are the two given, from several masks, and prints where it then is. */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>

static int now(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    if (CPU_COUNT(&set) != 1)
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            return cpu;
    return -1;
}

static void choose(const char *cpu)
{
    cpu_set_t set;
    tpsl_parse_cpus(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv)
{
    struct tpsl_rank ranks[3] = {{.cpus = argv[1]}, {.cpus = argv[2]}, {.cpus = NULL}};
    struct tpsl_job job = {.ranks = ranks, .nranks = 3};
    tpsl_rank_pin_thread(&job, &ranks[0]);
    printf("from the start: %d\n", now());
    choose(argv[2]);
    tpsl_rank_pin_thread(&job, &ranks[0]);
    printf("from the program's choice: %d\n", now());
    tpsl_rank_pin_thread(&job, &ranks[1]);
    tpsl_rank_pin_thread(&job, &ranks[0]);
    printf("from where another rank was pinned: %d\n", now());
    tpsl_rank_pin_thread(&job, &ranks[2]);
    printf("without CPUs of its own: %d\n", now());
    return 0;
}
