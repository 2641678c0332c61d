// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The environment of a rank. libc has only one environment per address space. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "shim.h"

char **__environ;
extern char **environ __attribute__((weak, alias("__environ")));
extern char **_environ __attribute__((weak, alias("__environ")));

static char **ours; /* an array from malloc that environ leads to, or NULL */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char **find(const char *name, size_t n)
{
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return e;
    return NULL;
}

char *getenv(const char *name)
{
    char **e = find(name, strlen(name));
    return e ? *e + strlen(name) + 1 : NULL;
}

char *secure_getenv(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}

/* Values that were replaced are not freed, because the program may have their address from getenv. */
static int store(char *entry, size_t n)
{
    char **e = find(entry, n);
    if (e) {
        *e = entry;
        return 0;
    }
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **more = realloc(environ == ours ? ours : NULL, (count + 2) * sizeof *more);
    if (!more)
        return -1;
    if (environ != ours && count)
        memcpy(more, environ, count * sizeof *more);
    more[count] = entry;
    more[count + 1] = NULL;
    environ = ours = more;
    return 0;
}

static bool is_name(const char *name)
{
    if (name && *name && !strchr(name, '='))
        return true;
    errno = EINVAL;
    return false;
}

int setenv(const char *name, const char *value, int replace)
{
    int rc = 0;
    if (!is_name(name))
        return -1;
    size_t n = strlen(name);
    pthread_mutex_lock(&lock);
    if (replace || !find(name, n)) {
        char *entry = malloc(n + strlen(value) + 2);
        if (entry) {
            memcpy(entry, name, n);
            entry[n] = '=';
            strcpy(entry + n + 1, value);
        }
        rc = entry ? store(entry, n) : -1;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int unsetenv(const char *name)
{
    if (!is_name(name))
        return -1;
    pthread_mutex_lock(&lock);
    for (char **e; (e = find(name, strlen(name))) != NULL;)
        do
            e[0] = e[1];
        while (*e++);
    pthread_mutex_unlock(&lock);
    return 0;
}

int putenv(char *entry)
{
    const char *equals = strchr(entry, '=');
    if (!equals)
        return unsetenv(entry);
    pthread_mutex_lock(&lock);
    int rc = store(entry, (size_t)(equals - entry));
    pthread_mutex_unlock(&lock);
    return rc;
}

int clearenv(void)
{
    pthread_mutex_lock(&lock);
    environ = NULL;
    pthread_mutex_unlock(&lock);
    return 0;
}
