// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Opens an instance of a library, and calls its functions. The Go code maps and relocates;
 * instance_start.c starts the instance.
 */
#include "object.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

static int arguments_c;
static char **arguments_v;

/* glibc passes the program's arguments to constructors. We pass them to the constructors of instances, too. */
__attribute__((constructor(101))) static void remember_arguments(int argc, char **argv)
{
    arguments_c = argc;
    arguments_v = argv;
}

static struct tpsl_instance *make(int recipe, const char *library, char **environment, bool without_switch, struct tpsl_object ***fresh, size_t *nfresh, char **error)
{
    struct tpsl_instance *in = tpsl_instance_new();
    if (!in) {
        *error = strdup("no memory for an instance");
        return NULL;
    }
    in->environment = environment;
    in->without_switch = without_switch;
    in->argc = arguments_c;
    in->argv = arguments_v;
    if (!tpslLoaderOpen(in, recipe, (char *)library, fresh, nfresh, error)) {
        tpsl_instance_free(in);
        return NULL;
    }
    tpsl_instance_publish(in);
    return in;
}

struct tpsl_instance *tpsl_make(const char *library, char **environment, struct tpsl_object ***fresh, size_t *nfresh, char **error)
{
    return make(0, library, environment, false, fresh, nfresh, error);
}

static struct tpsl_instance *open_instance(int recipe, const char *library, char **environment, bool without_switch, char **error)
{
    struct tpsl_object **fresh = NULL;
    size_t nfresh = 0;
    struct tpsl_instance *in = make(recipe, library, environment, without_switch, &fresh, &nfresh, error);
    if (in) {
        tpsl_become(in);
        tpsl_instance_start(in, fresh, nfresh);
    }
    free(fresh);
    return in;
}

struct tpsl_instance *tpsl_open(int recipe, const char *library, char **environment, char **error)
{
    return open_instance(recipe, library, environment, false, error);
}

struct tpsl_instance *tpsl_open_unbound(const char *library, char **error)
{
    struct tpsl_instance *before = tpsl_current, *in = open_instance(0, library, NULL, true, error);
    tpsl_become(before);
    return in;
}

void tpsl_instance_set_arguments(struct tpsl_instance *in, int argc, char **argv, char **envp)
{
    in->argc = argc;
    in->argv = argv;
    in->envp = envp;
}

const char *tpsl_instance_file(const struct tpsl_instance *in)
{
    return in->first->map.l_name;
}

uintptr_t tpsl_instance_entry(const struct tpsl_instance *in)
{
    return in->first->entry;
}

bool tpsl_instance_needs_exec_stack(const struct tpsl_instance *in)
{
    return in->exec_stack;
}

uintptr_t tpsl_instance_call(struct tpsl_instance *in, uintptr_t fn, const uintptr_t *a)
{
    typedef uintptr_t function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    struct tpsl_instance *before = tpsl_become(in);
    uintptr_t result = ((function *)fn)(a[0], a[1], a[2], a[3], a[4], a[5]);
    tpsl_become(before);
    return result;
}
