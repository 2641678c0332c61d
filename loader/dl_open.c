// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* dlopen for code of an instance, which adds a library to the instance. The Go code maps and
 * relocates the library.
 */
#include "dl.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

static void run_here(tpsl_step *step, void *argument)
{
    step(argument);
}

static tpsl_runner *run_go = run_here;

void tpsl_set_runner(tpsl_runner *runner)
{
    run_go = runner;
}

static const char *refused; /* the reason why nothing can be opened; NULL if libraries can be opened */

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
    void *loaded; /* ld.so's handle of a shared library */
    char *error;
};

static void extend(void *argument)
{
    struct extension *x = argument;
    x->root = tpslLoaderExtend(x->in, (char *)x->path, (char *)x->folder, x->caller, x->mode, &x->fresh, &x->nfresh, &x->loaded, &x->error);
}

/* Whether the name is a path relative to the working directory. "$ORIGIN/x" is not. */
static bool is_relative(const char *path)
{
    return strchr(path, '/') && *path != '/' && *path != '$';
}

/* Where a process keeps what is its own, such as files that only a descriptor leads to, the step would find what belongs to the
 * process that runs it. So a path there is told by the number of the caller. */
static const char *in_any_process(const char *path, char *room, size_t size)
{
    static const struct {
        const char *own, *by_number;
    } folders[] = {{"/proc/self/", "/proc/%d/%s"}, {"/proc/thread-self/", "/proc/%d/%s"}, {"/dev/fd/", "/proc/%d/fd/%s"}};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i].own);
        if (strncmp(path, folders[i].own, n) == 0 && (size_t)snprintf(room, size, folders[i].by_number, getpid(), path + n) < size)
            return room;
    }
    return path;
}

/* The caller counts as inside the gate, even if another thread runs the step. The constructors that follow run
 * outside the gate. */
static void run_inside(tpsl_step *step, void *argument)
{
    TPSL_INSIDE;
    run_go(step, argument);
}

/* An instance opens one library at a time, because each plan extends the plan before it. Other
 * instances do not wait meanwhile, because a constructor of this instance may wait for what they open. */
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
        tpsl_instance_start(x->in, x->fresh, x->nfresh);
        tpsl_become(before);
        atomic_fetch_add(&x->root->refs, 1);
    }
    pthread_mutex_unlock(&x->in->open_lock);
}

/* What an object that exists once opens exists once, too. libucm may have changed the program's references to dlopen, and calls
 * us in the program's place. It also opens its own file, so that it stays loaded. */
static bool is_for_process(const struct tpsl_object *caller, const char *path)
{
    return caller && caller->instance == &tpsl_once && strcmp(path, caller->map.l_name) != 0;
}

void *tpsl_dlopen(const char *path, int mode)
{
    const void *code = __builtin_return_address(0);
    struct tpsl_object *caller = tpsl_object_at(code);
    struct tpsl_instance *in = tpsl_asking(code);
    if (!path || !*path || !in || is_for_process(caller, path)) {
        TPSL_INSIDE;
        return tpsl_ldso_dlopen(path, mode);
    }
    if (refused) {
        tpsl_dlerror_set("%s", refused);
        return NULL;
    }
    char name[PATH_MAX], *folder = getcwd(NULL, 0);
    struct extension x = {.in = in, .path = in_any_process(path, name, sizeof name), .folder = folder, .caller = caller, .mode = mode};
    open_more(&x);
    free(folder);
    free(x.fresh);
    if (x.loaded)
        return x.loaded;
    if (!x.root) {
        tpsl_dlerror_set("%s", x.error ? x.error : path);
        free(x.error);
    }
    return x.root;
}
