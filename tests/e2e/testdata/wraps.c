// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A tool in front of functions of libc. It counts the calls that have the tell-tale
 * argument, hands each on to what is behind it, and tells at the end. With FREE it stands in
 * front of free as well; with MPI, in front of MPI_Finalize. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAGIC = 54321 };
static atomic_int creates, joins, mallocs, frees, lines, unmaps;

#define BEHIND(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    creates += argument == (void *)MAGIC;
    return BEHIND(pthread_create)(thread, attr, routine, argument);
}

int pthread_join(pthread_t thread, void **result)
{
    void *own;
    int rc = BEHIND(pthread_join)(thread, &own);
    joins += own == (void *)MAGIC;
    if (result)
        *result = own;
    return rc;
}

void *malloc(size_t size)
{
    static void *(*behind)(size_t);
    if (!behind)
        behind = BEHIND(malloc);
    mallocs += size == MAGIC;
    return behind(size);
}

#ifdef FREE
void free(void *p)
{
    static void (*behind)(void *);
    if (!behind)
        behind = BEHIND(free);
    frees += p && malloc_usable_size(p) >= MAGIC && malloc_usable_size(p) < MAGIC + 64;
    behind(p);
}
#endif

int puts(const char *line)
{
    lines += strcmp(line, "from the program") == 0;
    return BEHIND(puts)(line);
}

int munmap(void *start, size_t size)
{
    unmaps += size == MAGIC;
    return BEHIND(munmap)(start, size);
}

static void tell(const char *when)
{
    fprintf(stderr, "%s: %d pthread_create, %d pthread_join, %d malloc, %d free, %d puts, %d munmap\n", when, creates, joins, mallocs, frees, lines, unmaps);
}

#ifdef MPI
#include <mpi.h>
int MPI_Finalize(void)
{
    tell("MPI_Finalize");
    return PMPI_Finalize();
}
#endif

void tell_now(void) { tell("now"); }
__attribute__((destructor)) static void at_end(void) { tell("end"); }
