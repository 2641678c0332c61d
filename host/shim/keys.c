// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Keys of thread-specific data. libc has 1,024 keys in the address space, and each rank must be able to
 * have as many. So the shim implements the keys of a rank. It uses only one key of libc, by which libc
 * reports the end of a thread (host/rank_threads.c).
 *
 * A key's serial is odd while the key is in use, and grows with each use. A value is valid
 * while it has the serial of its key, so a key that is made again has no values. Almost all keys of
 * programs have numbers below BLOCK. Their values are at a fixed distance from the thread pointer.
 * The values of other keys are in blocks from malloc.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "shim.h"

enum { KEYS = PTHREAD_KEYS_MAX, BLOCK = 32, BLOCKS = KEYS / BLOCK };

static struct {
    _Atomic uintptr_t serial;
    void (*_Atomic destructor)(void *);
} keys[KEYS];

struct value {
    uintptr_t serial;
    void *data;
};
#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))
PER_THREAD struct value first[BLOCK];
PER_THREAD struct value *others[BLOCKS]; /* others[0] is not used */
PER_THREAD bool used;                    /* there may be values, and libc will report the end of the thread */

static bool in_use(uintptr_t serial)
{
    return serial & 1;
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    for (unsigned i = 0; i < KEYS; i++) {
        uintptr_t serial = atomic_load(&keys[i].serial);
        if (in_use(serial) || !atomic_compare_exchange_strong(&keys[i].serial, &serial, serial + 1))
            continue;
        atomic_store(&keys[i].destructor, destructor);
        *key = i;
        return 0;
    }
    return EAGAIN;
}

int pthread_key_delete(pthread_key_t key)
{
    uintptr_t serial = key < KEYS ? atomic_load(&keys[key].serial) : 0;
    return in_use(serial) && atomic_compare_exchange_strong(&keys[key].serial, &serial, serial + 1) ? 0 : EINVAL;
}

/* The result is NULL if there is none yet. */
static inline struct value *value_of(pthread_key_t key)
{
    if (__builtin_expect(key < BLOCK, 1))
        return &first[key];
    struct value *block = key < KEYS ? others[key / BLOCK] : NULL;
    return block ? &block[key % BLOCK] : NULL;
}

void *pthread_getspecific(pthread_key_t key)
{
    struct value *v = value_of(key);
    void *data = v ? v->data : NULL;
    if (data && __builtin_expect(v->serial != atomic_load_explicit(&keys[key].serial, memory_order_relaxed), 0))
        data = v->data = NULL;
    return data;
}

static bool store(pthread_key_t key, struct value value)
{
    if (key >= BLOCK && !others[key / BLOCK]) {
        if (!value.data)
            return true;
        if (!(others[key / BLOCK] = calloc(BLOCK, sizeof value)))
            return false;
    }
    *value_of(key) = value;
    return true;
}

/* One round over all values. Destructors may set more. */
static void destroy(void)
{
    for (pthread_key_t key = 0; key < KEYS; key++) {
        struct value *v = value_of(key);
        if (!v) {
            key += BLOCK - 1;
            continue;
        }
        void *data = v->data;
        v->data = NULL;
        void (*destructor)(void *) = atomic_load(&keys[key].destructor);
        if (data && v->serial == atomic_load(&keys[key].serial) && destructor)
            destructor(data);
    }
}

/* Values that destructors still set after the last round are dropped (pthread_key_create(3p)). */
void tpsl_keys_end(void)
{
    for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && used; round++) {
        used = false;
        destroy();
    }
    memset(first, 0, sizeof first);
    for (int i = 1; i < BLOCKS; i++) {
        free(others[i]);
        others[i] = NULL;
    }
    used = false;
}

int pthread_setspecific(pthread_key_t key, const void *data)
{
    uintptr_t serial = key < KEYS ? atomic_load_explicit(&keys[key].serial, memory_order_relaxed) : 0;
    if (!in_use(serial))
        return EINVAL;
    if (!store(key, (struct value){serial, (void *)data}))
        return ENOMEM;
    if (data && !used) {
        used = true;
        tpsl_at_thread_end(tpsl_keys_end);
    }
    return 0;
}

/* Other names by which some objects call these functions. */
int __pthread_key_create(pthread_key_t *, void (*)(void *)) ALSO(pthread_key_create);
void *__pthread_getspecific(pthread_key_t) ALSO(pthread_getspecific);
int __pthread_setspecific(pthread_key_t, const void *) ALSO(pthread_setspecific);

int tss_create(tss_t *key, tss_dtor_t destructor) { return pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error; }
void tss_delete(tss_t key) { pthread_key_delete(key); }
void *tss_get(tss_t key) { return pthread_getspecific(key); }

int tss_set(tss_t key, void *data)
{
    int error = pthread_setspecific(key, data);
    return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}
