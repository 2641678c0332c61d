// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Thread-locals of every kind, to be compiled for the initial-exec model. SIZE and
 * ALIGN make them larger. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SIZE
#define SIZE 8
#endif
#ifndef ALIGN
#define ALIGN 8
#endif

static int target = 7;
static __thread int counted = 3;
static __thread int *pointer = &target; /* a relocation in the initial values */
static __thread int zeroed;
__thread _Alignas(ALIGN) char wide[SIZE];
__thread int exported = 20;

int bump(void) { return ++counted * 100 + ++exported + zeroed++; }
int initial(void) { return *pointer == 7 && pointer == &target && ((uintptr_t)wide & (ALIGN - 1)) == 0 && wide[0] == 0; }

/* By __tls_get_addr, as dlsym works: the same variable. */
int one_address(void) { return dlsym(RTLD_DEFAULT, "exported") == &exported; }

static void *in_thread(void *unused)
{
    intptr_t right = initial() && bump() == 421;
    return (void *)right;
}
int thread_has_its_own(void)
{
    pthread_t t;
    void *right;
    return pthread_create(&t, NULL, in_thread, NULL) == 0 && pthread_join(t, &right) == 0 && right;
}

/* A thread that waits while a plugin with such variables is opened. */
static sem_t go;
static int (*plugin_bump)(void);
static void *waiting(void *unused)
{
    sem_wait(&go);
    int first = plugin_bump();
    return (void *)(intptr_t)(first * 1000 + plugin_bump());
}
int plugin_for_thread(const char *path)
{
    pthread_t t;
    void *result, *h;
    sem_init(&go, 0, 0);
    if (pthread_create(&t, NULL, waiting, NULL) != 0 || !(h = dlopen(path, RTLD_NOW)))
        return -1;
    plugin_bump = (int (*)(void))dlsym(h, "bump_plugin");
    sem_post(&go);
    return pthread_join(t, &result) == 0 && plugin_bump() == 6 ? (int)(intptr_t)result : -1;
}

/* A destructor of a key opens a plugin with such variables. */
static pthread_key_t key;
static int at_end;
static void open_plugin(void *path)
{
    void *h = dlopen(path, RTLD_NOW);
    int (*bump_it)(void) = h ? (int (*)(void))dlsym(h, "bump_plugin") : NULL;
    at_end = bump_it ? bump() * 1000 + bump_it() : -1;
}
static void *ending(void *path)
{
    bump();
    pthread_setspecific(key, path);
    return NULL;
}
int plugin_at_thread_end(const char *path)
{
    pthread_t t;
    if (pthread_key_create(&key, open_plugin) != 0 || pthread_create(&t, NULL, ending, (void *)path) != 0 || pthread_join(t, NULL) != 0)
        return -1;
    return at_end;
}
