// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Keys of thread-specific data. */
#include "posix.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <threads.h>

static pthread_key_t keys[PTHREAD_KEYS_MAX + 1];
static atomic_int destroyed;

static void count(void *value) { destroyed += (int)(intptr_t)value; }

static void in_thread(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    OK(pthread_create(&thread, NULL, routine, argument));
    OK(pthread_join(thread, NULL));
}

/* As many as PTHREAD_KEYS_MAX, in each rank. */
static void *set_all(void *number)
{
    int n = *(int *)number, right = 0;
    for (int i = 0; i < n; i++) {
        right += pthread_getspecific(keys[i]) == NULL;
        OK(pthread_setspecific(keys[i], (void *)(intptr_t)(i + 1)));
    }
    for (int i = 0; i < n; i++)
        right += pthread_getspecific(keys[i]) == (void *)(intptr_t)(i + 1);
    SAY("%d right", right);
    return NULL;
}

static void all(void)
{
    int n = 0, error;
    while ((error = pthread_key_create(&keys[n], count)) == 0)
        n++;
    SAY("%d keys, then %s", n, strerror(error));
    in_thread(set_all, &n);
    SAY("destroyed %d", destroyed);
    for (int i = 0; i < n; i++)
        OK(pthread_key_delete(keys[i]));
    OK(pthread_key_create(&keys[0], NULL));
}

static void wrong(void)
{
    pthread_key_t key;
    OK(pthread_key_create(&key, NULL));
    OK(pthread_key_delete(key));
    SAY("deleted twice: %s", strerror(pthread_key_delete(key)));
    SAY("set: %s", strerror(pthread_setspecific(key, &key)));
    SAY("get: %d", pthread_getspecific(key) != NULL);
    key = PTHREAD_KEYS_MAX;
    SAY("none: %s, %s, %d", strerror(pthread_key_delete(key)), strerror(pthread_setspecific(key, &key)), pthread_getspecific(key) != NULL);
}

/* A key that is deleted and made anew has no value in any thread, and no destructor of before. */
static pthread_barrier_t barrier;

static void *keeps_old_value(void *unused)
{
    for (int i = 0; i < 2; i++)
        OK(pthread_setspecific(keys[i], (void *)1000));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    SAY("%d %d", pthread_getspecific(keys[0]) != NULL, pthread_getspecific(keys[1]) != NULL);
    return NULL;
}

static void made_anew(void)
{
    pthread_t thread;
    pthread_key_t others[60];
    OK(pthread_barrier_init(&barrier, NULL, 2));
    OK(pthread_key_create(&keys[0], count));
    for (int i = 0; i < 60; i++)
        OK(pthread_key_create(&others[i], NULL));
    OK(pthread_key_create(&keys[1], count)); /* not in the first block of values */
    OK(pthread_create(&thread, NULL, keeps_old_value, NULL));
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++) {
        pthread_key_t before = keys[i];
        OK(pthread_key_delete(before));
        OK(pthread_key_create(&keys[i], count));
        SAY("the same number: %d", keys[i] == before);
    }
    pthread_barrier_wait(&barrier);
    OK(pthread_join(thread, NULL));
    SAY("destroyed %d", destroyed);
}

/* A destructor may set values: PTHREAD_DESTRUCTOR_ITERATIONS rounds, and no more. */
static pthread_key_t first, second;
static int rounds;

static void again(void *value)
{
    SAY("round %d: %s, mine is gone: %d", ++rounds, (char *)value, pthread_getspecific(first) == NULL);
    OK(pthread_setspecific(first, value));
}

static void once_more(void *value)
{
    SAY("second: %s", (char *)value);
    if (strcmp(value, "last") != 0)
        OK(pthread_setspecific(second, "last"));
}

static void *set_both(void *unused)
{
    OK(pthread_setspecific(first, "again"));
    OK(pthread_setspecific(second, "once"));
    return NULL;
}

static void destructor_rounds(void)
{
    OK(pthread_key_create(&first, again));
    OK(pthread_key_create(&second, once_more));
    in_thread(set_both, NULL);
    SAY("%d rounds", rounds);
    in_thread(set_both, NULL); /* which may have the stack of the first one */
    SAY("%d rounds", rounds);
}

/* Deleted by a destructor, in a thread that has values of it. */
static void delete_second(void *value)
{
    SAY("%s", (char *)value);
    OK(pthread_key_delete(second));
}

static void deleted_by_destructor(void)
{
    OK(pthread_key_create(&first, delete_second));
    OK(pthread_key_create(&second, once_more));
    in_thread(set_both, NULL);
}

/* Every thread has its own; NULL calls no destructor. */
static void *values_of(void *number)
{
    intptr_t sum = 0;
    for (int i = 0; i < 100; i++)
        OK(pthread_setspecific(keys[i], (void *)((intptr_t)number * 100 + i)));
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 100; i++) {
        sum += (intptr_t)pthread_getspecific(keys[i]) - (intptr_t)number * 100 - i;
        if (i % 2)
            OK(pthread_setspecific(keys[i], NULL));
    }
    return (void *)sum;
}

static void many_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    void *wrong_sum;
    OK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (int i = 0; i < 100; i++)
        OK(pthread_key_create(&keys[i], count));
    for (intptr_t i = 0; i < THREADS; i++)
        OK(pthread_create(&threads[i], NULL, values_of, (void *)i));
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(threads[i], &wrong_sum));
        SAY("%ld", (long)(intptr_t)wrong_sum);
    }
    SAY("destroyed %d", destroyed);
}

/* Keys that are made and deleted by many threads at once are never two threads'. */
static void *make_and_delete(void *mark)
{
    for (int i = 0; i < 2000; i++) {
        pthread_key_t key;
        OK(pthread_key_create(&key, NULL));
        OK(pthread_getspecific(key) != NULL);
        OK(pthread_setspecific(key, mark));
        OK(pthread_getspecific(key) != mark);
        OK(pthread_key_delete(key));
    }
    return NULL;
}

static void made_at_once(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        OK(pthread_create(&threads[i], NULL, make_and_delete, (void *)(intptr_t)(i + 1)));
    for (int i = 0; i < 4; i++)
        OK(pthread_join(threads[i], NULL));
    SAY("done");
}

static tss_t tss;
static int tss_thread(void *value)
{
    SAY("%d", tss_get(tss) == NULL);
    OK(tss_set(tss, value) != thrd_success);
    SAY("%s", (char *)tss_get(tss));
    return 3;
}

static void tss_destructor(void *value) { SAY("destroyed: %s", (char *)value); }

static void c11(void)
{
    thrd_t thread;
    int result;
    OK(tss_create(&tss, tss_destructor) != thrd_success);
    OK(thrd_create(&thread, tss_thread, "a value") != thrd_success);
    OK(thrd_join(thread, &result) != thrd_success);
    SAY("%d", result);
    tss_delete(tss);
    SAY("%d", tss_set(tss, &tss) == thrd_success);
}

/* exit calls none. */
static void not_at_exit(void)
{
    OK(pthread_key_create(&first, tss_destructor));
    OK(pthread_setspecific(first, "at exit"));
    SAY("exit");
    exit(3);
}

const struct program programs[] = {
    PROGRAM(all), PROGRAM(wrong), PROGRAM(made_anew), PROGRAM(destructor_rounds), PROGRAM(deleted_by_destructor),
    PROGRAM(many_threads), PROGRAM(made_at_once), PROGRAM(c11), PROGRAM(not_at_exit), {NULL, NULL},
};
