// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* brk(2) and sbrk(2): a process has one break, here each rank has one. It moves in addresses of its own, which take
 * memory below the break only. libc's malloc uses the break of the process. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim.h"

static const size_t most = (size_t)16 << 30, least = (size_t)1 << 20; /* bytes of addresses */

static char *start, *end; /* of the addresses */
static char *at;          /* the break */
static char *committed;   /* the end of the pages below it */

/* Takes less where the addresses of the process are limited. */
static bool reserve(void)
{
    for (size_t size = most; !start && size >= least; size /= 4) {
        void *addresses = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (addresses != MAP_FAILED) {
            start = at = committed = addresses;
            end = start + size;
        }
    }
    return start;
}

static bool move_to(char *wanted)
{
    uintptr_t page = (uintptr_t)getpagesize();
    char *pages = (char *)(((uintptr_t)wanted + page - 1) & ~(page - 1));
    bool moved = wanted <= end;
    if (moved && pages > committed)
        moved = mprotect(committed, (size_t)(pages - committed), PROT_READ | PROT_WRITE) == 0;
    else if (moved && pages < committed) /* what comes back later is zero */
        moved = mmap(pages, (size_t)(committed - pages), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == pages;
    if (moved) {
        committed = pages;
        at = wanted;
    } else {
        errno = ENOMEM;
    }
    return moved;
}

int brk(void *address)
{
    if (!reserve()) {
        errno = ENOMEM;
        return -1;
    }
    char *wanted = address;
    return wanted < start || move_to(wanted) ? 0 : -1; /* an address below them all changes nothing, as in the kernel */
}

void *sbrk(intptr_t increment)
{
    if (!reserve()) {
        errno = ENOMEM;
        return (void *)-1;
    }
    char *before = at;
    if (increment < start - at || increment > end - at) {
        errno = ENOMEM;
        return (void *)-1;
    }
    return move_to(at + increment) ? before : (void *)-1;
}
