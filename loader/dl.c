// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* dlopen and its family, as code inside an instance sees them: handles of
 * private objects are struct tpsl_object pointers; everything else is ld.so's.
 */
#include "loader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

/* The thread's pending dlerror text; ours wins over ld.so's. */
static __thread char message[256] __attribute__((tls_model("initial-exec")));
static __thread bool pending __attribute__((tls_model("initial-exec")));

static void *refuse(const char *format, const char *what)
{
    snprintf(message, sizeof message, format, what);
    pending = true;
    return NULL;
}

char *tpsl_dlerror(void)
{
    if (!pending)
        return dlerror();
    pending = false;
    return message;
}

/* Opens happen one at a time: a plan extends the plan before it. Recursive, as
 * constructors may call dlopen. */
static pthread_mutex_t open_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

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

struct extension {
    struct tpsl_instance *in;
    const char *path;
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
    x->root = tpslLoaderExtend(x->in, (char *)x->path, x->mode, &x->fresh, &x->nfresh, &x->outside, &x->error);
}

void *tpsl_dlopen(const char *path, int mode)
{
    struct extension x = {.in = tpsl_current, .path = path, .mode = mode};
    if (!path || !*path || !x.in)
        return dlopen(path, mode);
    pthread_mutex_lock(&open_lock);
    run_go(extend, &x);
    if (x.root)
        start(x.in, x.fresh, x.nfresh);
    pthread_mutex_unlock(&open_lock);
    free(x.fresh);
    if (x.outside)
        return x.outside;
    if (!x.root) {
        refuse("%s", x.error ? x.error : path);
        free(x.error);
        return NULL;
    }
    atomic_fetch_add(&x.root->refs, 1);
    return x.root;
}

/* A private object stays mapped, as POSIX allows and musl does: its code may be on some thread's stack or in another's callback. */
int tpsl_dlclose(void *handle)
{
    if (!tpsl_is_object(handle))
        return dlclose(handle);
    struct tpsl_object *o = handle;
    if (atomic_fetch_sub(&o->refs, 1) > 0)
        return 0;
    atomic_fetch_add(&o->refs, 1);
    refuse("dlclose: %s is not open", o->map.l_name);
    return -1;
}

static void *program; /* ld.so's handle of the global scope */

__attribute__((constructor(101))) static void open_program(void)
{
    program = dlopen(NULL, RTLD_LAZY);
}

void *tpsl_process_symbol(const char *name, const char *version)
{
    void *found = version ? dlvsym(program, name, version) : dlsym(program, name);
    if (found)
        return found;
    return version ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);
}

/* RTLD_NEXT from inside a private object: the objects behind it, then the process. */
static void *next_symbol(const char *name, const char *version, void *caller)
{
    struct tpsl_object *o = tpsl_object_at(caller);
    void *found = NULL;
    for (o = o ? o->next : NULL; o && !found; o = o->next)
        found = tpsl_scope_symbol(&o, 1, name, version);
    return found ? found : tpsl_process_symbol(name, version);
}

static void *lookup(void *handle, const char *name, const char *version, void *caller)
{
    pending = false;
    void *found = NULL;
    if (handle == RTLD_NEXT)
        return next_symbol(name, version, caller);
    if (handle == RTLD_DEFAULT || handle == program) {
        if (tpsl_current)
            found = tpsl_instance_symbol(tpsl_current, name, version);
        return found ? found : tpsl_process_symbol(name, version);
    }
    if (!tpsl_is_object(handle))
        return version ? dlvsym(handle, name, version) : dlsym(handle, name);
    struct tpsl_object *o = handle;
    found = tpsl_scope_symbol(o->scope, o->nscope, name, version);
    return found ? found : refuse("undefined symbol: %s", name);
}

void *tpsl_dlsym(void *handle, const char *name)
{
    return lookup(handle, name, NULL, __builtin_return_address(0));
}

void *tpsl_dlvsym(void *handle, const char *name, const char *version)
{
    return lookup(handle, name, version, __builtin_return_address(0));
}

int tpsl_dladdr(const void *address, Dl_info *info)
{
    struct tpsl_object *o = tpsl_object_at(address);
    struct tpsl_location at;
    if (!o || !tpsl_locate(address, &at))
        return dladdr(address, info);
    *info = (Dl_info){.dli_fname = o->map.l_name, .dli_fbase = (void *)o->start, .dli_sname = at.symbol, .dli_saddr = (void *)at.symbol_start};
    return 1;
}

int tpsl_dlinfo(void *handle, int request, void *out)
{
    if (!tpsl_is_object(handle))
        return dlinfo(handle, request, out);
    struct tpsl_object *o = handle;
    switch (request) {
    case RTLD_DI_LINKMAP:
        *(struct link_map **)out = &o->map;
        return 0;
    case RTLD_DI_ORIGIN: {
        const char *slash = strrchr(o->map.l_name, '/');
        size_t n = slash ? (size_t)(slash - o->map.l_name) : 0;
        memcpy(out, o->map.l_name, n);
        ((char *)out)[n] = 0;
        return 0;
    }
    case RTLD_DI_TLS_MODID:
        *(size_t *)out = o->tls_module;
        return 0;
    default:
        refuse("dlinfo: this request is not answered for the private object %s", o->map.l_name);
        return -1;
    }
}

struct tpsl_instance *tpsl_make(const char *library, char **environment, struct tpsl_object ***fresh, size_t *nfresh, char **error)
{
    struct tpsl_instance *in = tpsl_instance_new();
    if (!in) {
        *error = strdup("no memory for an instance");
        return NULL;
    }
    in->environment = environment;
    in->argc = arguments_c;
    in->argv = arguments_v;
    if (!tpslLoaderOpen(in, (char *)library, fresh, nfresh, error)) {
        tpsl_instance_free(in);
        return NULL;
    }
    tpsl_instance_publish(in);
    return in;
}

struct tpsl_instance *tpsl_open(const char *library, char **environment, char **error)
{
    struct tpsl_object **fresh = NULL;
    size_t nfresh = 0;
    /* The first instance brings up the objects placed once, which later ones
     * need complete; after it, instances come up in parallel. */
    static atomic_bool first_is_up;
    bool alone = !atomic_load(&first_is_up);
    if (alone)
        pthread_mutex_lock(&open_lock);
    struct tpsl_instance *in = tpsl_make(library, environment, &fresh, &nfresh, error);
    if (in) {
        tpsl_become(in);
        start(in, fresh, nfresh);
        if (alone)
            atomic_store(&first_is_up, true);
    }
    if (alone)
        pthread_mutex_unlock(&open_lock);
    free(fresh);
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
