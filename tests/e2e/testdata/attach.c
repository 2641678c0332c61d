// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* attach: a library that uses XPMEM. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

int xpmem_version(void);
int64_t xpmem_make(void *start, size_t size, int permit_type, void *permit_value);
int xpmem_remove(int64_t segid);
int64_t xpmem_get(int64_t segid, int flags, int permit_type, void *permit_value);
int xpmem_release(int64_t apid);
void *xpmem_attach(struct xpmem_addr addr, size_t size, void *address);
int xpmem_detach(void *address);

enum { RDONLY = 1, RDWR = 2, MODE = 1, PAGE = 4096 };
#define NOWHERE ((void *)-1)

/* Shares all memory of the caller; -1: it cannot. */
long share(void)
{
    return xpmem_version() < 0 ? -1 : xpmem_make(NULL, SIZE_MAX, MODE, (void *)0600);
}

/* Where memory of the owner of `segid` is found, NULL: nowhere. */
void *find(long segid, void *start, size_t size)
{
    struct xpmem_addr from = {xpmem_get(segid, RDWR, MODE, NULL), (off_t)(uintptr_t)start};
    void *found = from.apid < 0 ? NOWHERE : xpmem_attach(from, size, NULL);
    return found == NOWHERE ? NULL : found;
}

/* Gives back what was found. */
int leave(long segid, void *found)
{
    return xpmem_detach(found) == 0 && xpmem_release(segid) == 0;
}

static int refused(int64_t result, int error)
{
    return result == -1 && errno == error;
}

static int attach_refused(int64_t apid, off_t offset, size_t size, void *address, int error)
{
    struct xpmem_addr from = {apid, offset};
    return refused((int64_t)xpmem_attach(from, size, address), error);
}

/* The number of the first step that went another way than it should, 0: none. */
int wrong_step(void)
{
    char *pages = aligned_alloc(PAGE, 4 * PAGE);
    int64_t part = xpmem_make(pages, 2 * PAGE, MODE, (void *)0400), other = part ^ (int64_t)1 << 40;
    int right[] = {
        part > 0,
        refused(xpmem_make(pages + 1, PAGE, MODE, (void *)0600), EINVAL),
        refused(xpmem_make(pages, PAGE - 1, MODE, (void *)0600), EINVAL),
        refused(xpmem_make(pages, 0, MODE, (void *)0600), EINVAL),
        refused(xpmem_make(pages, PAGE, MODE, (void *)01000), EINVAL),
        refused(xpmem_make(pages, PAGE, MODE + 1, (void *)0600), EINVAL),
        refused(xpmem_get(part, RDWR, MODE, NULL), EACCES),
        refused(xpmem_get(part, RDONLY | RDWR, MODE, NULL), EINVAL),
        refused(xpmem_get(-1, RDONLY, MODE, NULL), EINVAL),
        refused(xpmem_get(other, RDONLY, MODE, NULL), ENOENT),
        xpmem_get(part, RDONLY, MODE, NULL) > 0,
        attach_refused(part, 2 * PAGE, PAGE, NULL, EINVAL),
        attach_refused(part, 0, 2 * PAGE + 1, NULL, EINVAL),
        attach_refused(part, 1, PAGE, NULL, EINVAL),
        attach_refused(part, -PAGE, PAGE, NULL, EINVAL),
        attach_refused(part, 0, PAGE, pages + 2 * PAGE, EINVAL),
        attach_refused(other, 0, PAGE, NULL, ENOENT),
        xpmem_attach((struct xpmem_addr){part, PAGE}, PAGE, NULL) == pages + PAGE,
        xpmem_remove(part) == 0,
        refused(xpmem_remove(part), ENOENT),
        refused(xpmem_get(part, RDONLY, MODE, NULL), ENOENT),
        attach_refused(part, 0, PAGE, NULL, ENOENT),
        xpmem_release(part) == 0,
        refused(xpmem_release(other), ENOENT),
        xpmem_make(pages, PAGE, MODE, (void *)0600) != part,
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (!right[i])
            return (int)i + 1;
    free(pages);
    return 0;
}
