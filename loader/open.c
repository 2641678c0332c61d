// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Opening: an instance of a library, or one more library in an instance. Go maps and
 * relocates, here it is started.
 */
#include "loader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

extern char **environ;
static int arguments_c;
static char **arguments_v;

/* glibc gives constructors the program's arguments; those of instances get them, too. */
__attribute__((constructor(101))) static void remember_arguments(int argc, char **argv)
{
    arguments_c = argc;
    arguments_v = argv;
}

static void start(struct tpsl_instance *in, struct tpsl_object **fresh, size_t n)
{
    tpsl_objects_start(fresh, n, in->argc, in->argv, in->envp ? in->envp : environ);
}

static void run_here(tpsl_step *step, void *argument)
{
    step(argument);
}

static tpsl_runner *run_go = run_here;

void tpsl_set_runner(tpsl_runner *runner)
{
    run_go = runner;
}

static const char *refused; /* why nothing can be opened; NULL: it can */

void tpsl_refuse_opens(const char *why)
{
    refused = why;
}

struct extension {
    struct tpsl_instance *in;
    const char *path;
    const char *folder;         /* the caller's working directory, which may be a process of its own; NULL: not known */
    struct tpsl_object *caller; /* NULL: not known */
    int mode;
    struct tpsl_object *root;
    struct tpsl_object **fresh;
    size_t nfresh;
    void *outside; /* ld.so's handle of a shared library */
    char *error;
};

static void extend(void *argument)
{
    struct extension *x = argument;
    x->root = tpslLoaderExtend(x->in, (char *)x->path, (char *)x->folder, x->caller, x->mode, &x->fresh, &x->nfresh, &x->outside, &x->error);
}

/* Whether it means a file by the working directory; "$ORIGIN/x" does not. */
static bool is_relative(const char *path)
{
    return strchr(path, '/') && *path != '/' && *path != '$';
}

/* Whoever carries it out, the caller is inside: constructors that follow are not. */
static void run_inside(tpsl_step *step, void *argument)
{
    TPSL_INSIDE;
    run_go(step, argument);
}

/* An instance opens one thing at a time: its plan extends the plan before it. Other instances
 * go on, as a constructor may wait for what they open. */
static void open_more(struct extension *x)
{
    const char *name = is_relative(x->path) ? x->path : NULL;
    pthread_mutex_lock(&x->in->open_lock);
    struct tpsl_object *same = name ? tpsl_opened_as(x->in, name) : NULL;
    if (same)
        x->path = same->map.l_name;
    run_inside(extend, x);
    if (x->root) {
        tpsl_note_opened(x->in, x->root, x->mode, name);
        struct tpsl_instance *before = tpsl_become(x->in);
        start(x->in, x->fresh, x->nfresh);
        tpsl_become(before);
        atomic_fetch_add(&x->root->refs, 1);
    }
    pthread_mutex_unlock(&x->in->open_lock);
}

void *tpsl_dlopen(const char *path, int mode)
{
    const void *caller = __builtin_return_address(0);
    struct tpsl_instance *in = tpsl_asking(caller);
    if (!path || !*path || !in) {
        TPSL_INSIDE;
        return dlopen(path, mode);
    }
    if (refused) {
        tpsl_refuse(refused);
        return NULL;
    }
    char *folder = getcwd(NULL, 0);
    struct extension x = {.in = in, .path = path, .folder = folder, .caller = tpsl_object_at(caller), .mode = mode};
    open_more(&x);
    free(folder);
    free(x.fresh);
    if (x.outside)
        return x.outside;
    if (!x.root) {
        tpsl_refuse(x.error ? x.error : path);
        free(x.error);
    }
    return x.root;
}

static struct tpsl_instance *make(const char *library, char **environment, bool without_switch, struct tpsl_object ***fresh, size_t *nfresh, char **error)
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
    if (!tpslLoaderOpen(in, (char *)library, fresh, nfresh, error)) {
        tpsl_instance_free(in);
        return NULL;
    }
    tpsl_instance_publish(in);
    return in;
}

struct tpsl_instance *tpsl_make(const char *library, char **environment, struct tpsl_object ***fresh, size_t *nfresh, char **error)
{
    return make(library, environment, false, fresh, nfresh, error);
}

static struct tpsl_instance *open_instance(const char *library, char **environment, bool without_switch, char **error)
{
    struct tpsl_object **fresh = NULL;
    size_t nfresh = 0;
    struct tpsl_instance *in = make(library, environment, without_switch, &fresh, &nfresh, error);
    if (in) {
        tpsl_become(in);
        start(in, fresh, nfresh);
    }
    free(fresh);
    return in;
}

struct tpsl_instance *tpsl_open(const char *library, char **environment, char **error)
{
    return open_instance(library, environment, false, error);
}

struct tpsl_instance *tpsl_open_unbound(const char *library, char **error)
{
    struct tpsl_instance *before = tpsl_current, *in = open_instance(library, NULL, true, error);
    tpsl_become(before);
    return in;
}

uintptr_t tpsl_instance_call(struct tpsl_instance *in, uintptr_t fn, const uintptr_t *a)
{
    typedef uintptr_t function(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    struct tpsl_instance *before = tpsl_become(in);
    uintptr_t result = ((function *)fn)(a[0], a[1], a[2], a[3], a[4], a[5]);
    tpsl_become(before);
    return result;
}
