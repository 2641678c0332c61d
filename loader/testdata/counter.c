// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* State of every kind that an instance must have for itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int counter = 5;        /* data */
static long zeroed[600]; /* BSS, more than a page */
static int target = 7;
static int *pointer = &target;                   /* RELATIVE */
int *exported_pointer = &counter;                /* 64 */
static __thread int local = 3;                   /* TLS, local-dynamic */
__thread int global_tls = 4;                     /* TLS, general-dynamic */
static char order[8];
extern int absent(void) __attribute__((weak));
extern int helper_value(void); /* of libhelper.so */

__attribute__((constructor(200))) static void second(void) { strcat(order, "b"); }
__attribute__((constructor(150))) static void first(void) { strcat(order, "a"); }
__attribute__((constructor)) static void last(void) { strcat(order, "c"); }

int bump(void) { return ++counter; }
long fill(void)
{
    long sum = 0;
    for (int i = 0; i < 600; i++)
        sum += zeroed[i]++;
    return sum;
}
int through_pointers(void) { return *pointer == 7 && exported_pointer == &counter; }
int bump_tls(void) { return ++local * 100 + ++global_tls; }
int weak_is_null(void) { return absent == NULL; }
int constructed(void) { return strcmp(order, "abc") == 0; }
int helper(void) { return helper_value(); }

int environment_is(const char *want)
{
    const char *have = getenv("FLAVOUR");
    return have && strcmp(have, want) == 0;
}

static void *in_thread(void *want)
{
    intptr_t right = environment_is(want) && local == 3 && global_tls == 4;
    local = 50;
    return (void *)right;
}

/* A thread made here acts for this instance and has TLS of its own. */
int thread_inherits(const char *want)
{
    pthread_t t;
    void *right;
    if (pthread_create(&t, NULL, in_thread, (void *)want) != 0 || pthread_join(t, &right) != 0)
        return 0;
    return right && local != 50;
}

static pthread_key_t end_key;
static int seen_at_end;
static void at_end(void *p) { seen_at_end = *(int *)p; }
static void *ending(void *unused)
{
    local = 41;
    pthread_setspecific(end_key, &local);
    return unused;
}

/* A destructor of a key still finds the thread's TLS. */
int tls_at_thread_end(void)
{
    pthread_t t;
    if (pthread_key_create(&end_key, at_end) != 0 || pthread_create(&t, NULL, ending, NULL) != 0 || pthread_join(t, NULL) != 0)
        return -1;
    return seen_at_end;
}

/* An address of ours is in an object with our name, at our symbol. */
int found_by_dladdr(void)
{
    Dl_info info;
    struct link_map *map;
    return dladdr((void *)bump, &info) && strstr(info.dli_fname, "libcounter.so") && info.dli_saddr == (void *)bump &&
           strcmp(info.dli_sname, "bump") == 0 && dladdr1((void *)bump, &info, (void **)&map, RTLD_DL_LINKMAP) &&
           strcmp(map->l_name, info.dli_fname) == 0;
}

/* A plugin binds to this instance's counter; opening it again gives the same one. */
int plugin(const char *path)
{
    void *h = dlopen(path, RTLD_NOW);
    if (!h)
        return -1;
    int (*read_counter)(void) = dlsym(h, "read_counter");
    int value = read_counter ? read_counter() : -2;
    if (dlsym(h, "no_such") || !strstr(dlerror(), "no_such") || dlerror())
        return -3;
    if (dlopen(path, RTLD_NOW) != h || dlclose(h) != 0 || dlclose(h) != 0 || dlclose(h) == 0)
        return -4;
    return value;
}

/* Two plugins define the same name: each keeps to its own, RTLD_LOCAL being the default. */
int plugins_apart(const char *a, const char *b)
{
    void *ha = dlopen(a, RTLD_NOW), *hb = dlopen(b, RTLD_NOW);
    if (!ha || !hb || dlopen(b, RTLD_NOW | RTLD_NOLOAD) != hb || dlopen("libnosuch.so", RTLD_NOW | RTLD_NOLOAD))
        return -1;
    int (*ask_a)(void) = dlsym(ha, "ask"), (*ask_b)(void) = dlsym(hb, "ask");
    return ask_a() * 10 + ask_b();
}

int missing_plugin(void) { return dlopen("libnosuch.so.1", RTLD_NOW) == NULL && strstr(dlerror(), "libnosuch.so.1"); }
int own_default(void) { return dlsym(RTLD_DEFAULT, "counter") == &counter && dlsym(RTLD_DEFAULT, "strlen") == (void *)strlen; }

static char *witness;
static void ended(void) { strcat(witness, "e"); }
void watch_end(char *where)
{
    witness = where;
    atexit(ended);
}
__attribute__((destructor)) static void destroyed(void)
{
    if (witness)
        strcat(witness, "d");
}

int opens(const char *name) { return dlopen(name, RTLD_NOW) != NULL; }
