// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Prints the CPUs of each list that is given, or "none". */
#include "process.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    cpu_set_t set;
    for (int i = 1; i < argc; i++) {
        bool any = tpsl_parse_cpus(argv[i], &set);
        printf("%s:%s", argv[i], any ? "" : " none");
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &set))
                printf(" %d", cpu);
        putchar('\n');
    }
    return 0;
}
