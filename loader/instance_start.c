// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The last steps that make mapped and relocated objects live, and the first steps that end them. These
 * steps call code of the instance, so they are in C and run on the stack of the thread that owns the
 * instance.
 */
#include "dl.h"
#include "libc.h"
#include "thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void announce(struct tpsl_object *o)
{
    atomic_store(&o->is_up, 1);
    syscall(SYS_futex, &o->is_up, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* An object placed once that another instance has brought may be used when its constructors have run.
 * The other instance starts it before any object that may wait for other instances, so this wait ends. */
static void await(struct tpsl_instance *in, struct tpsl_object *o)
{
    while (o->instance == &tpsl_once && o->brought_by != in && !atomic_load(&o->is_up))
        syscall(SYS_futex, &o->is_up, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* Resolvers run after every other relocation of all the objects (psABI), then threads
 * get the initial values of static thread-locals, then RELRO is sealed. */
static void ready(struct tpsl_instance *in, struct tpsl_object *const *objects, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < objects[i]->nifuncs; k++) {
            const struct tpsl_ifunc *f = &objects[i]->ifuncs[k];
            *(uintptr_t *)f->where = ((uintptr_t(*)(void))f->resolver)();
        }
    if (n)
        tpsl_static_tls_add(in, objects, n);
    for (size_t i = 0; i < n; i++)
        if (objects[i]->relro_size)
            mprotect((void *)objects[i]->relro, objects[i]->relro_size, PROT_READ);
}

void tpsl_instance_start(struct tpsl_instance *in, struct tpsl_object *const *objects, size_t n)
{
    char **envp = in->envp ? in->envp : environ;
    tpsl_scopes_each(in, await);
    ready(in, objects, n);
    for (size_t i = 0; i < n; i++) {
        objects[i]->started_before = objects[i]->instance->started;
        objects[i]->instance->started = objects[i];
        for (size_t k = 0; k < objects[i]->ninit; k++)
            ((void (*)(int, char **, char **))objects[i]->init[k])(in->argc, in->argv, envp);
        if (objects[i]->instance == &tpsl_once)
            announce(objects[i]);
    }
}

struct tpsl_exit_entry {
    struct tpsl_exit_entry *older;
    void (*function)(void *);
    void *argument;
    void *dso; /* any address inside the registering object */
};

/* Functions that an instance registers go to its own list. libc runs its list once, at the exit of the
 * process, and does not know which instance a function belongs to. */
int tpsl_cxa_atexit(void (*function)(void *), void *argument, void *dso)
{
    struct tpsl_object *o = tpsl_object_at(dso);
    struct tpsl_instance *in = o ? o->instance : &tpsl_once;
    struct tpsl_exit_entry *e = malloc(sizeof *e);
    if (!e)
        return -1;
    pthread_mutex_lock(&in->exit_lock);
    *e = (struct tpsl_exit_entry){in->exit_list, function, argument, dso};
    in->exit_list = e;
    pthread_mutex_unlock(&in->exit_lock);
    return 0;
}

/* Takes the newest entry that belongs to `only`, or the newest of all if `only` is NULL. */
static struct tpsl_exit_entry *take_entry(struct tpsl_instance *in, const struct tpsl_object *only)
{
    pthread_mutex_lock(&in->exit_lock);
    struct tpsl_exit_entry **p = &in->exit_list;
    while (*p && only && tpsl_object_at((*p)->dso) != only)
        p = &(*p)->older;
    struct tpsl_exit_entry *e = *p;
    if (e)
        *p = e->older;
    pthread_mutex_unlock(&in->exit_lock);
    return e;
}

static void run_entries(struct tpsl_instance *in, const struct tpsl_object *only)
{
    struct tpsl_exit_entry *e;
    while ((e = take_entry(in, only)) != NULL) {
        e->function(e->argument);
        free(e);
    }
}

void __cxa_finalize(void *dso); /* libc's function; it removes the object's handlers of pthread_atfork */

void tpsl_cxa_finalize(void *dso)
{
    struct tpsl_object *o = dso ? tpsl_object_at(dso) : NULL;
    if (!o)
        return;
    run_entries(o->instance, o);
    TPSL_INSIDE;
    __cxa_finalize(dso);
}

/* The object that was started last ends first. */
void tpsl_instance_finish(struct tpsl_instance *in)
{
    struct tpsl_instance *before = tpsl_become(in);
    tpsl_call_thread_destructors(in);
    run_entries(in, NULL);
    for (struct tpsl_object *o; (o = in->started) != NULL;) {
        in->started = o->started_before;
        for (size_t k = 0; k < o->nfini; k++)
            ((void (*)(void))o->fini[k])();
    }
    tpsl_become(before);
}
