// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A malloc in front of libc's, without symbol versions as such libraries are. It knows
 * its own memory, and ends the process when it is given any other. As a sanitizer does, it
 * forgets a thread in the last round of its destructors: libtpsl is not to call it then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { MAGIC = 0x7e571 };
struct header {
    size_t size, offset, magic;
};

static void end(const char *line)
{
    (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(99);
}

static pthread_key_t key;
static int have_key;
static __thread int known, forgotten __attribute__((tls_model("initial-exec")));

static void thread_ends(void *round)
{
    if ((long)round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, (void *)((long)round + 1));
    else
        forgotten = 1;
}

/* It is older than libtpsl's keys, as the library is linked to be initialised first: libc
 * calls destructors by the age of their keys. */
__attribute__((constructor)) static void make_key(void)
{
    have_key = pthread_key_create(&key, thread_ends) == 0;
}

static void know_thread(void)
{
    if (known || !have_key)
        return;
    known = 1;
    pthread_setspecific(key, (void *)1);
}

static void refuse_late(const void *caller)
{
    Dl_info info;
    if (forgotten && dladdr(caller, &info) && strstr(info.dli_fname, "libtpsl"))
        end("mallocs: libtpsl calls free too late in a thread's end\n");
}

static struct header *header_of(void *p)
{
    struct header *h = (struct header *)p - 1;
    if (h->magic != MAGIC)
        end("mallocs: this is not mine\n");
    return h;
}

void *memalign(size_t align, size_t size)
{
    size_t offset = align > 64 ? align : 64;
    know_thread();
    char *p = __libc_memalign(offset, offset + size);
    if (!p)
        return NULL;
    ((struct header *)(p + offset))[-1] = (struct header){size, offset, MAGIC};
    return p + offset;
}

void *malloc(size_t size) { return memalign(16, size); }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }

int posix_memalign(void **out, size_t align, size_t size)
{
    *out = memalign(align, size);
    return *out ? 0 : ENOMEM;
}

void *calloc(size_t n, size_t size)
{
    void *p = malloc(n * size);
    return p ? memset(p, 0, n * size) : NULL;
}

void free(void *p)
{
    refuse_late(__builtin_return_address(0));
    if (!p)
        return;
    struct header *h = header_of(p);
    h->magic = 0;
    __libc_free((char *)p - h->offset);
}

void *realloc(void *old, size_t size)
{
    void *p = malloc(size);
    if (p && old) {
        size_t before = header_of(old)->size;
        memcpy(p, old, before < size ? before : size);
        free(old);
    }
    return p;
}

size_t malloc_usable_size(void *p) { return p ? header_of(p)->size : 0; }
