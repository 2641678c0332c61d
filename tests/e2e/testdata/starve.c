// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* In front of libc: libtpsl gets no memory for a rank's list of one private library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_calloc(size_t, size_t);

enum { LIST = 3 * sizeof(void *) }; /* struct tpsl_copies of one library */

void *calloc(size_t n, size_t size)
{
    Dl_info caller;
    if (n == 1 && size == LIST && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libtpsl.so"))
        return NULL;
    return __libc_calloc(n, size);
}
