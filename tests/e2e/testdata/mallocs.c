// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A malloc in front of libc's, without symbol versions as such libraries are. It knows
 * its own memory, and ends the process when it is given any other. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { MAGIC = 0x7e571 };
struct header {
    size_t size, offset, magic;
};

static struct header *header_of(void *p)
{
    static const char line[] = "mallocs: this is not mine\n";
    struct header *h = (struct header *)p - 1;
    if (h->magic != MAGIC) {
        (void)!write(STDERR_FILENO, line, sizeof line - 1);
        _exit(99);
    }
    return h;
}

void *memalign(size_t align, size_t size)
{
    size_t offset = align > 64 ? align : 64;
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
