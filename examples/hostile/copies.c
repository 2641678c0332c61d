/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Runs a library that is not made for threads in eight threads at once, each with a
 * private copy. The library has a function long work(long seed), such as those beside
 * this file. The results are printed and compared with those of one thread. No MPI here.
 *
 *     tpslcc copies.c -o copies
 *     ./copies ./libwork.so
 *     ./copies -shared ./libwork.so      # one copy for all, which goes wrong
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tpsl.h>

enum { THREADS = 8 };

typedef long work_function(long seed);

static const char *file;
static void *common; /* the copy for all under -shared, NULL: each has its own */
static pthread_barrier_t together;

/* work of a copy. */
static work_function *work_of(void *copy)
{
    work_function *work = copy ? (work_function *)TPSL_Dlsym(copy, "work") : NULL;
    if (!work) {
        fprintf(stderr, "copies: %s\n", TPSL_Dlerror());
        exit(1);
    }
    return work;
}

static void *thread(void *seed_and_result)
{
    long *value = seed_and_result;
    void *copy = common ? common : TPSL_Dlopen(file);
    work_function *work = work_of(copy);
    pthread_barrier_wait(&together);
    *value = work(*value);
    if (!common)
        TPSL_Dlclose(copy);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    long values[THREADS];
    int wrong = 0;

    int shared = argc == 3 && strcmp(argv[1], "-shared") == 0;
    if (argc != 2 + shared) {
        fprintf(stderr, "usage: copies [-shared] FILE\n");
        return 1;
    }
    file = argv[1 + shared];
    void *first = TPSL_Dlopen(file);
    work_function *serial = work_of(first);
    common = shared ? first : NULL;

    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        values[i] = i;
        if (pthread_create(&threads[i], NULL, thread, &values[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        printf("%d %ld\n", i, values[i]);
        wrong += values[i] != serial(i);
    }
    if (wrong)
        fprintf(stderr, "copies: %d of %d results are not those of one thread\n", wrong, THREADS);
    return wrong > 0;
}
