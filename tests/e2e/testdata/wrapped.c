// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Calls what wraps.c stands in front of, from the program and from a library of its own;
 * with LIBRARY, that library. Then it looks for functions in all the ways there are: they
 * are the same ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAGIC = 54321 };
void from_library(void);

static void *thread(void *argument) { return argument; }

static void call_all(void)
{
    pthread_t t;
    void *volatile p = malloc(MAGIC);
    if (pthread_create(&t, NULL, thread, (void *)MAGIC) != 0 || pthread_join(t, NULL) != 0)
        puts("no thread");
    munmap(mmap(NULL, MAGIC, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MAGIC);
    puts("from the program");
    free(p);
    free(strdup("libc's own"));
}

#ifdef LIBRARY
void from_library(void) { call_all(); }
#else
#ifdef MPI
#include <mpi.h>
#endif

int main(int argc, char **argv)
{
#ifdef MPI
    MPI_Init(&argc, &argv);
#endif
    void (*tell_now)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "tell_now");
    call_all();
    from_library();
    void *more = dlopen("libz.so.1", RTLD_NOW);
    printf("%s\n", more && dlsym(more, "crc32") ? "opened" : dlerror());
    if (tell_now)
        tell_now();
#ifdef MPI
    MPI_Finalize();
#endif
    return 0;
}
#endif
