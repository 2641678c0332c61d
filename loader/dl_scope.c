// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* dlsym searches the same objects in the same order as in ld.so (dlsym(3), dlopen(3)):
 *
 * - RTLD_DEFAULT: the global scope, then what was opened together with the caller. This is, for
 *   each library opened by dlopen that came with the caller, the library and all that it needs.
 * - RTLD_NEXT: the objects after the caller in the first of these lists that contains the caller.
 * - a handle: the object and all that it needs, breadth-first.
 *
 * In these lists the stand-in comes before the C library (the plan put it there), and the rebind
 * table replaces those functions of the C library that it has. References of the process may be
 * interposed. So for RTLD_DEFAULT and RTLD_NEXT a definition of the C library is the one that the
 * process sees.
 *
 * An object that is placed once serves all instances, so it finds what all instances have.
 */
#include "dl.h"
#include "libc.h"

#include <stdlib.h>
#include <string.h>

void tpsl_set_global_scope(struct tpsl_instance *in, struct tpsl_scope *scope)
{
    scope->older = atomic_load(&in->global);
    atomic_store_explicit(&in->global, scope, memory_order_release);
}

/* Preconditions: open_lock is held. The next function has the same precondition. */
void tpsl_note_opened(struct tpsl_instance *in, struct tpsl_object *root, int mode, const char *name)
{
    struct tpsl_opened *_Atomic *link = &in->opened;
    for (struct tpsl_opened *o; (o = atomic_load(link)) != NULL; link = &o->next)
        if (o->root == root && (!name || (o->name && strcmp(o->name, name) == 0)))
            return;
    struct tpsl_opened *o = calloc(1, sizeof *o);
    if (!o)
        return; /* dlsym finds it only by its handle */
    o->root = root;
    o->deep = mode & RTLD_DEEPBIND;
    o->name = name ? strdup(name) : NULL;
    atomic_store_explicit(link, o, memory_order_release);
}

static struct tpsl_opened *first_opened(struct tpsl_instance *in)
{
    return atomic_load_explicit(&in->opened, memory_order_acquire);
}

static struct tpsl_opened *next_opened(const struct tpsl_opened *o)
{
    return atomic_load_explicit(&o->next, memory_order_acquire);
}

struct tpsl_object *tpsl_opened_as(struct tpsl_instance *in, const char *name)
{
    for (struct tpsl_opened *o = first_opened(in); o; o = next_opened(o))
        if (o->name && strcmp(o->name, name) == 0 && atomic_load(&o->root->refs) > 0)
            return o->root;
    return NULL;
}

void tpsl_scopes_end_instance(struct tpsl_instance *in)
{
    for (struct tpsl_scope *s = in->global, *older; s; s = older) {
        older = s->older;
        free(s);
    }
    for (struct tpsl_opened *o = in->opened, *next; o; o = next) {
        next = o->next;
        free(o->name);
        free(o);
    }
}

/* A list of objects. */
struct list {
    struct tpsl_object *const *objects;
    size_t n;
};

static struct list global_scope(struct tpsl_instance *in)
{
    const struct tpsl_scope *s = atomic_load_explicit(&in->global, memory_order_acquire);
    return s ? (struct list){s->objects, s->n} : (struct list){NULL, 0};
}

static struct list scope_of(const struct tpsl_object *o)
{
    return (struct list){o->scope, o->nscope};
}

/* The objects after one in a list. The result is empty if that one is not in the list. */
static struct list behind(struct list l, const struct tpsl_object *o)
{
    size_t i = 0;
    while (i < l.n && l.objects[i] != o)
        i++;
    return i < l.n ? (struct list){l.objects + i + 1, l.n - i - 1} : (struct list){NULL, 0};
}

static bool has(struct list l, const struct tpsl_object *o)
{
    return behind(l, o).objects != NULL;
}

void tpsl_scopes_each(struct tpsl_instance *in, void (*visit)(struct tpsl_instance *, struct tpsl_object *))
{
    struct list l = global_scope(in);
    for (size_t i = 0; i < l.n; i++)
        visit(in, l.objects[i]);
    for (struct tpsl_opened *o = first_opened(in); o; o = next_opened(o))
        for (size_t i = 0; i < o->root->nscope; i++)
            visit(in, o->root->scope[i]);
}

/* The name that is looked up, and the caller. */
struct wanted {
    const char *name, *version;
    int rebound;   /* scope of the table for the caller */
    bool from_one; /* by a handle: the definition of the object itself, even if the process interposes it */
};

static void *own_symbol(const struct tpsl_object *o, const struct wanted *w)
{
    return w->version ? dlvsym(o->ldso_handle, w->name, w->version) : dlsym(o->ldso_handle, w->name);
}

/* STB_GNU_UNIQUE: all objects use the definition of the object that was loaded first. */
static void *unique(struct tpsl_object *o, const struct wanted *w)
{
    struct tpsl_object *other = o->instance == &tpsl_once ? NULL : atomic_load_explicit(&o->instance->first, memory_order_acquire);
    for (; other && other != o; other = atomic_load_explicit(&other->next, memory_order_acquire)) {
        const ElfW(Sym) *s = tpsl_object_symbol(other, w->name, w->version);
        if (s && ELF64_ST_BIND(s->st_info) == STB_GNU_UNIQUE)
            return tpsl_symbol_address(other, s);
    }
    return NULL;
}

static void *ldso_symbol(const struct tpsl_object *o, const struct wanted *w)
{
    void *found = tpsl_rebound(w->name, w->rebound);
    if (!found && !w->from_one)
        found = w->version ? tpsl_process_definition(w->name, w->version) : tpsl_process_symbol(w->name, NULL);
    return found ? found : own_symbol(o, w);
}

/* What is in front of an object's own function; NULL: nothing. */
static void *in_front(const struct tpsl_object *o, const struct wanted *w)
{
    return tpsl_wrapper(o->wrappers, w->name);
}

static void *search(struct list l, const struct wanted *w)
{
    for (size_t i = 0; i < l.n; i++) {
        struct tpsl_object *o = l.objects[i];
        const ElfW(Sym) *s = tpsl_object_symbol(o, w->name, w->version);
        if (!s)
            continue;
        if (o->ldso_handle)
            return ldso_symbol(o, w);
        void *found = ELF64_ST_BIND(s->st_info) == STB_GNU_UNIQUE ? unique(o, w) : in_front(o, w);
        return found ? found : tpsl_symbol_address(o, s);
    }
    return NULL;
}

void *tpsl_instance_reference(struct tpsl_instance *in, const char *name)
{
    return search(global_scope(in), &(struct wanted){.name = name});
}

/* The definition of the process, or ours in its place. */
static void *in_process(const struct wanted *w)
{
    void *found = tpsl_rebound(w->name, w->rebound);
    return found ? found : tpsl_process_symbol(w->name, w->version);
}

static bool is_once(const struct tpsl_object *caller)
{
    return caller && caller->instance == &tpsl_once;
}

static struct wanted wanted(const struct tpsl_object *caller, const struct tpsl_instance *in, const char *name, const char *version)
{
    return (struct wanted){name, version, is_once(caller) ? TPSL_REBIND_ONCE : in ? in->rebound : 0, false};
}

/* An object placed once serves all instances, so it finds the same definitions whichever instance calls
 * it: those of objects placed once, then those of the process. Only a name that neither has is looked
 * up in the caller's instance. */
static void *find_for_all(struct tpsl_instance *in, const struct tpsl_object *behind, const struct wanted *w)
{
    void *found = NULL;
    struct tpsl_object *o = behind ? behind->next : tpsl_once.first;
    for (; o && !found; o = atomic_load_explicit(&o->next, memory_order_acquire))
        found = tpsl_scope_symbol(&o, 1, w->name, w->version);
    if (!found)
        found = in_process(w);
    if (found || !in)
        return found;
    dlerror(); /* it is not an error yet that the process has no definition */
    return tpsl_instance_symbol(in, w->name, w->version);
}

/* Whether an object came with the instance, and not by dlopen. */
static bool is_initial(struct tpsl_instance *in, const struct tpsl_object *o)
{
    const struct tpsl_scope *s = atomic_load_explicit(&in->global, memory_order_acquire);
    while (s && s->older)
        s = s->older;
    return s && has((struct list){s->objects, s->n}, o);
}

/* The first library from this one on that was opened by dlopen and brought the caller; NULL if there is none. */
static struct tpsl_opened *came_with(const struct tpsl_object *caller, struct tpsl_opened *o)
{
    while (o && !has(scope_of(o->root), caller))
        o = next_opened(o);
    return o;
}

static struct tpsl_opened *brought(struct tpsl_instance *in, const struct tpsl_object *caller)
{
    return caller && !is_initial(in, caller) ? came_with(caller, first_opened(in)) : NULL;
}

void *tpsl_find_default(const void *code, const char *name, const char *version)
{
    const struct tpsl_object *caller = tpsl_object_at(code);
    struct tpsl_instance *in = tpsl_asking(code);
    struct wanted w = wanted(caller, in, name, version);
    if (is_once(caller))
        return find_for_all(in, NULL, &w);
    if (!in)
        return in_process(&w);
    struct tpsl_opened *o = brought(in, caller);
    void *found = o && o->deep ? search(scope_of(o->root), &w) : NULL;
    if (!found)
        found = search(global_scope(in), &w);
    for (; o && !found; o = came_with(caller, next_opened(o)))
        found = search(scope_of(o->root), &w);
    return found ? found : in_process(&w);
}

void *tpsl_find_global(const void *code, const char *name, const char *version)
{
    struct tpsl_instance *in = tpsl_asking(code);
    struct wanted w = wanted(tpsl_object_at(code), in, name, version);
    void *found = in ? search(global_scope(in), &w) : NULL;
    return found ? found : in_process(&w);
}

void *tpsl_find_next(const void *code, const char *name, const char *version)
{
    const struct tpsl_object *caller = tpsl_object_at(code);
    struct tpsl_instance *in = tpsl_asking(code);
    struct wanted w = wanted(caller, in, name, version);
    if (is_once(caller))
        return find_for_all(in, caller, &w);
    if (!in)
        return in_process(&w);
    const struct tpsl_opened *o = brought(in, caller);
    void *found = search(behind(o ? scope_of(o->root) : global_scope(in), caller), &w);
    return found ? found : in_process(&w);
}

/* A lookup by a handle of ld.so's gives ld.so's definition. If that is one of the C library's, ours
 * takes its place, if there is one. */
static void *find_in_ldso(void *handle, const struct tpsl_instance *in, const struct wanted *w)
{
    void *found = w->version ? dlvsym(handle, w->name, w->version) : dlsym(handle, w->name);
    if (!found || !w->rebound || !tpsl_in_c_library(w->name, w->version, found))
        return found;
    void *ours = NULL;
    if (in && in->stand_in && w->rebound != TPSL_REBIND_ONCE)
        ours = tpsl_scope_symbol(&in->stand_in, 1, w->name, w->version);
    if (!ours)
        ours = tpsl_rebound(w->name, w->rebound);
    return ours ? ours : found;
}

void *tpsl_find_in(void *handle, const void *code, const char *name, const char *version)
{
    struct tpsl_instance *in = tpsl_asking(code);
    struct wanted w = wanted(tpsl_object_at(code), in, name, version);
    w.from_one = true;
    if (!tpsl_is_object(handle))
        return find_in_ldso(handle, in, &w);
    return search(scope_of(handle), &w);
}
