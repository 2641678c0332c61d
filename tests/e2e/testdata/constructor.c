/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * constructor: with LIBRARY, a library whose constructor asks whether MPI is initialised, when another thread is inside
 * MPI_Init; else the program that opens it.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern atomic_int initialiser; /* thread that calls MPI_Init; -1: start it */

#ifdef LIBRARY

/* Waits until the thread sleeps: it needs ld.so's lock, which the opening thread holds. */
static void await_sleep(int thread)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    for (int i = 0; i < 500 && state != 'S'; i++) {
        usleep(10000);
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            abort();
        fclose(f);
    }
}

__attribute__((constructor)) static void opened(void)
{
    int flag = -1;
    atomic_store(&initialiser, -1);
    while (atomic_load(&initialiser) < 0)
        usleep(1000);
    await_sleep(atomic_load(&initialiser));
    MPI_Initialized(&flag);
    printf("initialized: %d\n", flag);
}

#else

atomic_int initialiser;

static void *initialise(void *unused)
{
    while (atomic_load(&initialiser) == 0)
        usleep(1000);
    atomic_store(&initialiser, gettid()); /* any of them */
    MPI_Init(NULL, NULL);
    MPI_Finalize();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, initialise, NULL))
            return 1;
    if (argc != 2 || !dlopen(argv[1], RTLD_NOW))
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

#endif
