// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The objects that are mapped, and the instances that they belong to.
 *
 * Writers hold registry_lock. An object is linked after it is complete, with a release
 * store, so readers of lists that only grow need no lock. Objects are removed when nobody uses
 * their instance any more. Only readers of the list of all objects may still find them, so these
 * readers hold list_lock.
 */
#include "object.h"

#include <stdlib.h>
#include <string.h>

struct tpsl_instance tpsl_once = {.exit_lock = PTHREAD_MUTEX_INITIALIZER};

static struct tpsl_instance *newest;
static struct tpsl_object *_Atomic first_published;
static struct tpsl_object *last_published;
static _Atomic size_t published, withdrawn;
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t list_lock = PTHREAD_RWLOCK_INITIALIZER; /* it prefers readers, because readers may nest */

struct tpsl_instance *tpsl_instance_new(void)
{
    struct tpsl_instance *in = aligned_alloc(_Alignof(struct tpsl_instance), sizeof *in);
    static _Atomic uintptr_t serials;
    if (in) {
        memset(in, 0, sizeof *in);
        pthread_mutexattr_t recursive;
        pthread_mutexattr_init(&recursive);
        pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&in->open_lock, &recursive);
        pthread_mutexattr_destroy(&recursive);
        pthread_mutex_init(&in->exit_lock, NULL);
        in->serial = atomic_fetch_add(&serials, 1) + 1;
    }
    return in;
}

void tpsl_instance_publish(struct tpsl_instance *in)
{
    pthread_mutex_lock(&registry_lock);
    in->next = newest;
    newest = in;
    pthread_mutex_unlock(&registry_lock);
}

bool tpsl_instance_is_live(const struct tpsl_instance *in, uintptr_t serial)
{
    TPSL_INSIDE;
    pthread_mutex_lock(&registry_lock);
    const struct tpsl_instance *i = newest;
    while (i && i != in)
        i = i->next;
    bool live = i && (serial == 0 || i->serial == serial);
    pthread_mutex_unlock(&registry_lock);
    return live;
}

static void append(struct tpsl_instance *in, struct tpsl_object *o)
{
    if (in->last)
        atomic_store_explicit(&in->last->next, o, memory_order_release);
    else
        atomic_store_explicit(&in->first, o, memory_order_release);
    in->last = o;
}

/* Links the object's map behind that of the object published before. Others read l_next
 * as ld.so writes it, a plain pointer. */
static void chain(struct tpsl_object *o)
{
    if (last_published) {
        o->map.l_prev = &last_published->map;
        __atomic_store_n(&last_published->map.l_next, &o->map, __ATOMIC_RELEASE);
    } else {
        atomic_store_explicit(&first_published, o, memory_order_release);
    }
    last_published = o;
    atomic_fetch_add(&published, 1);
}

void tpsl_object_publish(struct tpsl_instance *in, struct tpsl_object *o)
{
    pthread_mutex_lock(&registry_lock);
    o->instance = in;
    append(in, o);
    tpsl_object_enter(o);
    chain(o);
    pthread_mutex_unlock(&registry_lock);
}

/* After each store, readers can still walk through the chain. */
static void unchain(struct tpsl_object *o)
{
    struct link_map *before = o->map.l_prev, *after = o->map.l_next;
    if (before)
        __atomic_store_n(&before->l_next, after, __ATOMIC_RELEASE);
    else
        atomic_store_explicit(&first_published, (struct tpsl_object *)after, memory_order_release);
    if (after)
        after->l_prev = before;
    else
        last_published = (struct tpsl_object *)before;
    atomic_fetch_add(&withdrawn, 1);
}

void tpsl_instance_withdraw(struct tpsl_instance *in)
{
    pthread_rwlock_wrlock(&list_lock);
    pthread_mutex_lock(&registry_lock);
    struct tpsl_instance **link = &newest;
    while (*link != in)
        link = &(*link)->next;
    *link = in->next;
    for (struct tpsl_object *o = in->first; o; o = o->next) {
        tpsl_object_leave(o);
        unchain(o);
    }
    pthread_mutex_unlock(&registry_lock);
    pthread_rwlock_unlock(&list_lock);
}

void tpsl_objects_hold(void)
{
    pthread_rwlock_rdlock(&list_lock);
}

void tpsl_objects_release(void)
{
    pthread_rwlock_unlock(&list_lock);
}

struct tpsl_instance *tpsl_asking(const void *caller)
{
    const struct tpsl_object *o = tpsl_object_at(caller);
    return o && o->instance != &tpsl_once ? o->instance : tpsl_current;
}

struct tpsl_object *tpsl_first_published(void)
{
    return atomic_load_explicit(&first_published, memory_order_acquire);
}

/* The map is the first member of its object. */
struct tpsl_object *tpsl_next_published(const struct tpsl_object *o)
{
    return (struct tpsl_object *)__atomic_load_n(&o->map.l_next, __ATOMIC_ACQUIRE);
}

size_t tpsl_published(void)
{
    return atomic_load(&published);
}

size_t tpsl_withdrawn(void)
{
    return atomic_load(&withdrawn);
}

enum tpsl_owner tpsl_owner_of(const void *address)
{
    const struct tpsl_object *o = tpsl_object_at(address);
    if (!o)
        return TPSL_OF_PROCESS;
    return o->instance == &tpsl_once ? TPSL_OF_ALL_INSTANCES : TPSL_OF_INSTANCE;
}

struct tpsl_home *tpsl_instance_home(struct tpsl_instance *in)
{
    return &in->home;
}

void tpsl_get_layout(struct tpsl_layout *l)
{
    *l = (struct tpsl_layout){
        .objects = (uintptr_t)&first_published,
        .object_instance = offsetof(struct tpsl_object, instance),
        .object_start = offsetof(struct tpsl_object, start),
        .object_end = offsetof(struct tpsl_object, end),
        .instance_home = offsetof(struct tpsl_instance, home),
        .once = (uintptr_t)&tpsl_once,
        .published = (uintptr_t)&published,
        .withdrawn = (uintptr_t)&withdrawn,
    };
}

bool tpsl_is_object(const void *handle)
{
    TPSL_INSIDE;
    tpsl_objects_hold();
    struct tpsl_object *o = tpsl_first_published();
    while (o && o != handle)
        o = tpsl_next_published(o);
    tpsl_objects_release();
    return o != NULL;
}
