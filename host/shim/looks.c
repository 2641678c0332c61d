// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that read the environment. During the call, libc has the environment of the rank. These functions also take
 * locks that libc has once for all ranks: see inside.c. */
#include <glob.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <wchar.h>
#include <wordexp.h>

#include "shim.h"

#define IN_ENVIRONMENT(call) tpsl_in_environment(environ, call, &c)

struct wordexp_call {
    const char *words;
    wordexp_t *result;
    int flags, error;
};

static void expand(void *data)
{
    struct wordexp_call *c = data;
    c->error = BEHIND(wordexp)(c->words, c->result, c->flags);
}

int wordexp(const char *restrict words, wordexp_t *restrict result, int flags)
{
    struct wordexp_call c = {words, result, flags, 0};
    IN_ENVIRONMENT(expand);
    return c.error;
}

struct glob_call {
    const char *pattern;
    int flags, error;
    glob_t *result;
};

static void find_files(void *data)
{
    struct glob_call *c = data;
    c->error = BEHIND(glob)(c->pattern, c->flags, NULL, c->result);
}

/* ~ is replaced by HOME. Functions of the program are not called while libc has the environment of the rank. */
int glob(const char *restrict pattern, int flags, int (*failed)(const char *, int), glob_t *restrict result)
{
    bool home = flags & (GLOB_TILDE | GLOB_TILDE_CHECK), calls_back = failed || flags & GLOB_ALTDIRFUNC;
    struct glob_call c = {pattern, flags, 0, result};
    if (home && !calls_back) {
        IN_ENVIRONMENT(find_files);
        return c.error;
    }
    TPSL_INSIDE;
    return BEHIND(glob)(pattern, flags, failed, result);
}

struct tempnam_call {
    const char *folder, *prefix;
    char *result;
};

static void name_file(void *data)
{
    struct tempnam_call *c = data;
    c->result = BEHIND(tempnam)(c->folder, c->prefix);
}

char *tempnam(const char *folder, const char *prefix)
{
    struct tempnam_call c = {folder, prefix, NULL};
    IN_ENVIRONMENT(name_file);
    return c.result;
}

struct newlocale_call {
    int mask;
    const char *name;
    locale_t base, result;
};

/* libc loads a locale's conversion between bytes and characters when it is needed first, in any function that deals with such
 * characters, under the lock of all locales. So it is needed here, where the thread counts as inside, and no longer there. */
static locale_t with_conversion(locale_t made)
{
    mbstate_t start = {0};
    if (made) {
        locale_t before = BEHIND(uselocale)(made);
        mbrtowc(NULL, "a", 1, &start);
        BEHIND(uselocale)(before);
    }
    return made;
}

static void make_locale(void *data)
{
    struct newlocale_call *c = data;
    c->result = with_conversion(BEHIND(newlocale)(c->mask, c->name, c->base));
}

/* The name "" stands for LC_ALL, LC_... and LANG. */
locale_t newlocale(int mask, const char *name, locale_t base)
{
    struct newlocale_call c = {mask, name, base, NULL};
    if (*name) {
        TPSL_INSIDE;
        return with_conversion(BEHIND(newlocale)(mask, name, base));
    }
    IN_ENVIRONMENT(make_locale);
    return c.result;
}

extern __typeof__(newlocale) __newlocale ALSO(newlocale);
