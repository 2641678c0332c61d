// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* earlycrash.so: a process crashes when it makes itself the leader of a session. A rank of private mode does so before its
 * program begins. Because of its free, ld.so preloads this library for the process that all ranks share. */
#include <unistd.h>

void __libc_free(void *);

void free(void *memory) { __libc_free(memory); }

pid_t setsid(void)
{
    *(volatile int *)16 = 0;
    return 0;
}
