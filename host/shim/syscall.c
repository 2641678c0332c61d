// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* syscall. A program that ends, executes another program or forks by it goes the way of _exit, execve, execveat or _Fork,
 * which look after the other ranks. clone with more flags, and clone3, go to the kernel. */
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim.h"

long (*tpsl_kernel(void))(long, ...)
{
    return BEHIND(syscall);
}

/* So that no handler need look it up. */
__attribute__((constructor)) static void find(void) { tpsl_kernel(); }

/* Like libc's, it reads six arguments, although most calls have fewer. */
long syscall(long number, ...)
{
    long a[6];
    va_list more;
    va_start(more, number);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    switch (number) {
    case SYS_exit_group:
        _exit((int)a[0]);
    case SYS_execve:
        return execve((char *)a[0], (char **)a[1], (char **)a[2]);
    case SYS_execveat:
        return execveat((int)a[0], (char *)a[1], (char **)a[2], (char **)a[3], (int)a[4]);
#ifdef SYS_fork
    case SYS_fork:
        return _Fork();
#endif
    case SYS_clone:
        if ((int)a[0] == SIGCHLD && !a[1])
            return _Fork();
    }
    return tpsl_kernel()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
