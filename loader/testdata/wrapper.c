/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A function of a library (LOW), what stands in front of it (WRAPPER, and by ld.so's rules FRONT), and who calls it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef int function(void);
int value(void);

#if defined LOW
int value(void)
{
    static int calls; /* of each instance */
    return ++calls;
}

int from_inside(void)
{
    return value();
}
#elif defined WRAPPER
void *tpsl_wrapped(const char *name);

int value(void)
{
    return 10 + ((function *)tpsl_wrapped("value"))();
}
#elif defined FRONT
int value(void)
{
    return 100 + ((function *)dlsym(RTLD_NEXT, "value"))();
}
#elif defined LATE
int late(void)
{
    return value();
}
#else
static function *volatile pointer = value;

int called(void)
{
    return value();
}

int by_pointer(void)
{
    return pointer();
}

int looked_up(void)
{
    return ((function *)dlsym(RTLD_DEFAULT, "value"))();
}

int by_handle(const char *library)
{
    return ((function *)dlsym(dlopen(library, RTLD_NOW), "value"))();
}

int by_opened(const char *library)
{
    return ((function *)dlsym(dlopen(library, RTLD_NOW), "late"))();
}
#endif
