// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What must be there before the Go runtime starts. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* The Go runtime reserves 1.6 GB of address space. Where `ulimit -v` forbids that, it aborts with a
 * message of its own. The rest is for the program and one instance. */
enum { ADDRESS_SPACE_MIB = 2048 };

__attribute__((constructor(101))) static void check_address_space(void)
{
    struct rlimit r;
    char line[160];
    if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >> 20 >= ADDRESS_SPACE_MIB)
        return;
    int n = snprintf(line, sizeof line, "tpsl: the address-space limit of %llu MiB (ulimit -v) is too small: %d MiB are needed; raise it\n",
                     (unsigned long long)r.rlim_cur >> 20, ADDRESS_SPACE_MIB);
    (void)!write(STDERR_FILENO, line, (size_t)n);
    _exit(1);
}
