// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Locks on files. fcntl's classic locks belong to the process. So all instances would
 * hold a lock that one of them took, and would lose it when another one closes the
 * file. MPI-IO, for example, guards shared file pointers with such locks.
 *
 * Locks of the open file description (Linux 3.15, fcntl(2)) exclude each other within
 * a process, and exclude classic ones of other processes. Every instance opens its
 * files itself, so a description has one owner.
 */
#include "libc.h"

#include <fcntl.h>
#include <stdarg.h>

static int of_description(int command)
{
    switch (command) {
    case F_GETLK:
        return F_OFD_GETLK;
    case F_SETLK:
        return F_OFD_SETLK;
    case F_SETLKW:
        return F_OFD_SETLKW;
    default:
        return command;
    }
}

int tpsl_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *); /* libc's fcntl does not know the type of the argument, either */
    va_end(rest);
    int ours = of_description(command);
    if (ours != command)
        ((struct flock *)argument)->l_pid = 0; /* any other value gives EINVAL */
    return fcntl(fd, ours, argument);
}
