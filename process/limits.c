// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What must be there before the Go runtime starts. Where it is not, that runtime aborts with a message of its own. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The Go runtime reserves 1.6 GB of address space, and 75 MB of it count as data. The rest is for the program and one
 * instance. */
enum { ADDRESS_SPACE_MIB = 2048, DATA_MIB = 128 };

static void check_memory(__rlimit_resource_t resource, const char *what, char option, int least_mib)
{
    struct rlimit r;
    char line[160];
    if (getrlimit(resource, &r) != 0 || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >> 20 >= (rlim_t)least_mib)
        return;
    int n = snprintf(line, sizeof line, "tpsl: the %s limit of %llu MiB (ulimit -%c) is too small: %d MiB are needed; raise it\n", what,
                     (unsigned long long)r.rlim_cur >> 20, option, least_mib);
    (void)!write(STDERR_FILENO, line, (size_t)n);
    _exit(1);
}

__attribute__((constructor(101))) static void check_limits(void)
{
    check_memory(RLIMIT_AS, "address-space", 'v', ADDRESS_SPACE_MIB);
    check_memory(RLIMIT_DATA, "data", 'd', DATA_MIB);
}
