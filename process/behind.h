/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For libraries in front of others, each of which includes its own copy: a function calls the one of its name that stands behind it.
 */
#ifndef TPSL_BEHIND_H
#define TPSL_BEHIND_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns the function of a name that stands behind the library that asks; NULL: there is none. Where a library was opened with RTLD_LOCAL, as
 * an extension module of Python is, RTLD_NEXT does not find what came with it. So the function is what the library of the caller finds among
 * what it needs. The caller is an address in that library. A program that opened the library finds the asking one, which is no answer. */
static inline void *tpsl_behind(const char *name, const void *caller)
{
    void *function = dlsym(RTLD_NEXT, name);
    Dl_info in, own;
    if (function || !dladdr(caller, &in) || !in.dli_fname)
        return function;
    void *library = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* stays open, as the function is kept */
    function = library ? dlsym(library, name) : NULL;
    bool is_own = function && dladdr(function, &in) && dladdr((void *)tpsl_behind, &own) && in.dli_fbase == own.dli_fbase;
    return is_own ? NULL : function;
}

#endif
