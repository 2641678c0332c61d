// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Ways to give memory back and get it again. One thread drops a block, another makes it; the address tends to be the
 * same, the pages are others. What drop leaves in place, end gives back.
 */
#ifndef WAYS_H
#define WAYS_H

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 16, BLOCK = PAGES * PAGE, LARGE = 4 * BLOCK };

struct block {
    char *data; /* BLOCK bytes; NULL: none */
    void *held; /* what malloc and realloc gave */
};

static void need(int ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

static char *map(void *at, size_t size, int flags)
{
    char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    need(p != MAP_FAILED, "mmap");
    return p;
}

static void hold(struct block *b, void *p)
{
    need(p != NULL, "malloc");
    b->held = p;
    b->data = (char *)(((size_t)p + PAGE - 1) & -(size_t)PAGE);
}

/* Of the heap; without M_TRIM_THRESHOLD a block at its top goes back to the kernel at once. */
static void heap_make(struct block *b) { hold(b, malloc(BLOCK + PAGE)); }
/* Beyond M_MMAP_THRESHOLD. */
static void malloc_make(struct block *b) { hold(b, malloc(LARGE)); }
static void malloc_drop(struct block *b)
{
    free(b->held);
    b->data = NULL;
}

/* A block that realloc has cut down, and made large again, begins where it did and has new pages at its end. */
static void realloc_make(struct block *b)
{
    hold(b, realloc(b->data ? b->held : NULL, LARGE));
    b->data += LARGE - 2 * BLOCK;
}
static void realloc_drop(struct block *b)
{
    b->held = realloc(b->held, LARGE / 2); /* still beyond M_MMAP_THRESHOLD: mremap */
    need(b->held != NULL, "realloc");
}
static void realloc_end(struct block *b) { malloc_drop(b); }

static void mmap_make(struct block *b) { b->data = map(NULL, BLOCK, 0); }
static void mmap_drop(struct block *b)
{
    munmap(b->data, BLOCK);
    b->data = NULL;
}

/* Moves pages that have no room to grow, and the next block takes their place. It is done page by page, as libibverbs sets
 * what is registered apart from its neighbours (MADV_DONTFORK), and mremap wants one mapping. */
static void move_make(struct block *b)
{
    b->data = map(NULL, BLOCK + PAGE, 0);
    need(mprotect(b->data + BLOCK, PAGE, PROT_NONE) == 0, "mprotect");
}
static void move_drop(struct block *b)
{
    for (char *page = b->data; page < b->data + BLOCK; page += PAGE) {
        char *other = mremap(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
        need(other != MAP_FAILED && other != page, "mremap that moves");
        munmap(other, 2 * PAGE);
    }
    munmap(b->data + BLOCK, PAGE);
    b->data = NULL;
}

/* The block is the end of a mapping that shrinks and grows. */
static void shrink_make(struct block *b)
{
    char *p = b->data ? mremap(b->data - PAGE, PAGE, BLOCK + PAGE, MREMAP_MAYMOVE) : map(NULL, BLOCK + PAGE, 0);
    need(p != MAP_FAILED, "mremap");
    b->data = p + PAGE;
}
static void shrink_drop(struct block *b) { need(mremap(b->data - PAGE, BLOCK + PAGE, PAGE, 0) == b->data - PAGE, "mremap that shrinks"); }
static void shrink_end(struct block *b)
{
    munmap(b->data - PAGE, BLOCK + PAGE);
    b->data = NULL;
}

static void keep_make(struct block *b)
{
    if (!b->data)
        mmap_make(b);
}
static void madvise_drop(struct block *b) { need(madvise(b->data, BLOCK, MADV_DONTNEED) == 0, "madvise"); }
static void fixed_drop(struct block *b) { map(b->data, BLOCK, MAP_FIXED); }

static void brk_make(struct block *b)
{
    char *p = sbrk(0);
    b->data = (char *)(((size_t)p + PAGE - 1) & -(size_t)PAGE);
    need(brk(b->data + BLOCK) == 0, "brk");
}
static void sbrk_drop(struct block *b)
{
    need(sbrk(0) == b->data + BLOCK, "sbrk: somebody else moved the break");
    need(sbrk(-BLOCK) != (void *)-1, "sbrk");
    b->data = NULL;
}

static void shm_make(struct block *b)
{
    int id = shmget(IPC_PRIVATE, BLOCK, IPC_CREAT | 0600);
    need(id >= 0, "shmget");
    b->data = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    need(b->data != (void *)-1, "shmat");
}
static void shm_drop(struct block *b)
{
    need(shmdt(b->data) == 0, "shmdt");
    b->data = NULL;
}

static const struct way {
    const char *name;
    void (*make)(struct block *), (*drop)(struct block *), (*end)(struct block *);
    int alone; /* one thread makes all blocks, and drops them, the last one first */
} ways[] = {
    {"free", malloc_make, malloc_drop, NULL, 0},
    {"free that trims the heap", heap_make, malloc_drop, NULL, 0},
    {"realloc", realloc_make, realloc_drop, realloc_end, 0},
    {"munmap", mmap_make, mmap_drop, NULL, 0},
    {"mremap that moves", move_make, move_drop, NULL, 0},
    {"mremap that shrinks", shrink_make, shrink_drop, shrink_end, 0},
    {"madvise", keep_make, madvise_drop, mmap_drop, 0},
    {"mmap over live memory", keep_make, fixed_drop, mmap_drop, 0},
    {"sbrk", brk_make, sbrk_drop, NULL, 1},
    {"shmdt", shm_make, shm_drop, NULL, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Sizes decide which way malloc goes, for ever; and each thread has a heap of its own, none the break. */
static void set_up_malloc(void)
{
    mallopt(M_MMAP_THRESHOLD, 2 * BLOCK);
    mallopt(M_TRIM_THRESHOLD, 0);
    mallopt(M_TOP_PAD, 0);
    mallopt(M_ARENA_MAX, 1000);
}

#endif
