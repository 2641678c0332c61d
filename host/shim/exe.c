// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Programs find their own file by /proc/self/exe. For a rank this would be the host, so the shim gives the program's file. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim.h"

static bool is_self(const char *path)
{
    char by_number[32];
    snprintf(by_number, sizeof by_number, "/proc/%d/exe", getpid());
    return strcmp(path, "/proc/self/exe") == 0 || strcmp(path, by_number) == 0;
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
    return BEHIND(realpath)(path && is_self(path) ? tpsl_program() : path, resolved);
}

/* The names of these functions with _FORTIFY_SOURCE. The size of the buffer was checked if it is known. */
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
