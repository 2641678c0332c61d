// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Keys of thread-specific data that instances make. libc calls the destructor of a key at the end of
 * each thread that has a value, and the code of the destructor goes with its instance. So the keys of
 * an instance are deleted with it. This also gives the keys back, of which a process has 1,024.
 */
#include "object.h"
#include "libc.h"

#include <errno.h>
#include <stdlib.h>

struct key {
    struct key *older;
    struct tpsl_instance *instance;
    pthread_key_t number;
};
static struct key *newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The instance that makes a key. The return address does not always tell: a call at the end of a
 * function may be a jump, and then returns to libc, as in pthread_once. So the destructor and the key
 * are asked first. */
static struct tpsl_instance *maker(const void *key, const void *destructor, const void *caller)
{
    const struct tpsl_object *o = tpsl_object_at(destructor);
    if (!o)
        o = tpsl_object_at(key);
    return tpsl_asking(o ? (void *)o->start : caller);
}

int tpsl_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    struct tpsl_instance *in = maker(key, destructor, __builtin_return_address(0));
    struct key *k = malloc(sizeof *k);
    int error = k ? pthread_key_create(key, destructor) : ENOMEM;
    if (error || !in) {
        free(k);
        return error;
    }
    pthread_mutex_lock(&lock);
    *k = (struct key){newest, in, *key};
    newest = k;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Removes a key from the list. Preconditions: lock is held. */
static void forget(struct key **link)
{
    struct key *k = *link;
    *link = k->older;
    free(k);
}

int tpsl_key_delete(pthread_key_t number)
{
    pthread_mutex_lock(&lock);
    struct key **link = &newest;
    while (*link && (*link)->number != number)
        link = &(*link)->older;
    if (*link)
        forget(link);
    int error = pthread_key_delete(number);
    pthread_mutex_unlock(&lock);
    return error;
}

void tpsl_keys_end_instance(const struct tpsl_instance *in)
{
    pthread_mutex_lock(&lock);
    for (struct key **link = &newest; *link;)
        if ((*link)->instance == in) {
            pthread_key_delete((*link)->number);
            forget(link);
        } else {
            link = &(*link)->older;
        }
    pthread_mutex_unlock(&lock);
}
