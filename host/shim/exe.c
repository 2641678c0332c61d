// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Programs find their own file by /proc/self/exe, to read it or to execute it again. For a rank this would be the host,
 * so the shim gives the program's file. children.c and streams.c have other functions that do so. */
#define _LARGEFILE64_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

/* A child of a rank may still know its file by the rank's number. */
static bool is_program(const char *process, size_t n)
{
    char *end;
    if (strncmp(process, "self/", n + 1) == 0 || strncmp(process, "thread-self/", n + 1) == 0)
        return true;
    long pid = strtol(process, &end, 10);
    return end == process + n && pid > 0 && tpsl_runs_program((pid_t)pid);
}

static bool is_self(const char *path)
{
    static const char folder[] = "/proc/";
    if (strncmp(path, folder, strlen(folder)) != 0)
        return false;
    const char *process = path + strlen(folder);
    size_t n = strcspn(process, "/");
    return strcmp(process + n, "/exe") == 0 && is_program(process, n);
}

const char *tpsl_meant(const char *path)
{
    return path && is_self(path) ? tpsl_program() : path;
}

ssize_t readlinkat(int folder, const char *restrict path, char *restrict buffer, size_t size)
{
    if (!is_self(path))
        return BEHIND(readlinkat)(folder, path, buffer, size);
    size_t n = strlen(tpsl_program());
    n = n < size ? n : size;
    memcpy(buffer, tpsl_program(), n);
    return (ssize_t)n;
}

ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size)
{
    return readlinkat(AT_FDCWD, path, buffer, size);
}

char *realpath(const char *restrict path, char *restrict resolved)
{
    return BEHIND(realpath)(tpsl_meant(path), resolved);
}

/* ---- open. libc has its open by this name, too, so that a handler need not look it up. ---- */

int __open(const char *path, int flags, ...);

static bool has_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = has_mode(flags) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return __open(tpsl_meant(path), flags, mode);
}
SAME(open64, open);

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = has_mode(flags) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return BEHIND(openat)(folder, tpsl_meant(path), flags, mode);
}
SAME(openat64, openat);

/* ---- with _FORTIFY_SOURCE ---- */

int __open_2(const char *path, int flags)
{
    return has_mode(flags) ? (abort(), -1) : open(path, flags);
}
SAME(__open64_2, __open_2);

int __openat_2(int folder, const char *path, int flags)
{
    return has_mode(flags) ? (abort(), -1) : openat(folder, path, flags);
}
SAME(__openat64_2, __openat_2);

/* The size of the buffer was checked if it is known. */
ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room)
{
    return size > room ? (abort(), -1) : readlink(path, buffer, size);
}

ssize_t __readlinkat_chk(int folder, const char *path, char *buffer, size_t size, size_t room)
{
    return size > room ? (abort(), -1) : readlinkat(folder, path, buffer, size);
}

char *__realpath_chk(const char *path, char *resolved, size_t room)
{
    return room < PATH_MAX ? (abort(), NULL) : realpath(path, resolved);
}
