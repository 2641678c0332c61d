// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libtpslxpmem: the functions of XPMEM for ranks that share an address space.
 *
 * XPMEM lets a process attach memory of another one, by a kernel module. Ranks of one
 * address space have each other's memory already, so what is attached has the address that
 * it has for its owner. There is one copy of this library for all ranks of the process.
 *
 * A segid has a number of the address space, and so a process that has another memory hears
 * ENOENT. A child made by fork has another memory, too, although it is a copy: the kernel
 * clears the table there.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/types.h>

/* XPMEM's interface. */
typedef int64_t xpmem_segid_t;
typedef int64_t xpmem_apid_t;

struct xpmem_addr {
    xpmem_apid_t apid;
    off_t offset;
};

enum { VERSION = 0x26005 }; /* 2.6.5 */
enum { PERMIT_MODE = 1 };   /* the only type of permission: the mode of a file */
enum { RDONLY = 1, RDWR = 2 };
#define WHOLE SIZE_MAX /* the size of a segment that has the whole address space */

enum { PAGE = 4096, SEGMENTS = 1 << 16 };

struct segment {
    uintptr_t start;
    size_t size;
    uint16_t generation; /* how many segments have had this place */
    uint16_t mode;
    bool shared;
};

/* All zero in the beginning and in the child of a fork, which makes the lock a free one. */
struct table {
    pthread_mutex_t lock;
    uint32_t space; /* number of the address space, 31 random bits; 0: no segment was made */
    struct segment segments[SEGMENTS];
};

static struct table *_Atomic table;

static int fail(int error)
{
    errno = error;
    return -1;
}

/* The table, NULL: the kernel refuses the memory. */
static struct table *get_table(void)
{
    struct table *there = atomic_load(&table);
    if (there)
        return there;
    struct table *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    if (madvise(made, sizeof *made, MADV_WIPEONFORK) == 0 && atomic_compare_exchange_strong(&table, &there, made))
        return made;
    munmap(made, sizeof *made);
    return there;
}

static struct table *lock_table(void)
{
    struct table *t = get_table();
    if (t)
        pthread_mutex_lock(&t->lock);
    return t;
}

static void unlock_table(struct table *t)
{
    pthread_mutex_unlock(&t->lock);
}

static int64_t id_of(const struct table *t, const struct segment *s)
{
    return (int64_t)t->space << 32 | (int64_t)s->generation << 16 | (s - t->segments);
}

static bool is_of_space(const struct table *t, int64_t id)
{
    return t->space != 0 && id >> 32 == t->space;
}

/* The segment, NULL: there is none, or it was removed. Precondition: the lock is held. */
static struct segment *find(struct table *t, int64_t id)
{
    struct segment *s = &t->segments[id % SEGMENTS];
    return is_of_space(t, id) && s->shared && id_of(t, s) == id ? s : NULL;
}

static bool number_space(struct table *t)
{
    while (t->space == 0) {
        if (getrandom(&t->space, sizeof t->space, 0) != sizeof t->space)
            return false;
        t->space >>= 1;
    }
    return true;
}

static struct segment *find_free(struct table *t)
{
    struct segment *s = t->segments, *end = s + SEGMENTS;
    while (s < end && s->shared)
        s++;
    return s < end ? s : NULL;
}

static xpmem_segid_t make(struct table *t, const struct segment *wanted)
{
    struct segment *s = find_free(t);
    if (s == NULL || !number_space(t))
        return fail(ENOMEM);
    uint16_t generation = (uint16_t)(s->generation + 1);
    *s = *wanted;
    s->generation = generation;
    return id_of(t, s);
}

int xpmem_version(void)
{
    return VERSION;
}

xpmem_segid_t xpmem_make(void *start, size_t size, int permit_type, void *permit_value)
{
    struct segment wanted = {.start = (uintptr_t)start, .size = size, .mode = (uint16_t)(uintptr_t)permit_value, .shared = true};
    if (permit_type != PERMIT_MODE || (uintptr_t)permit_value > 0777 || wanted.start % PAGE || size == 0)
        return fail(EINVAL);
    if (size == WHOLE)
        wanted.size = SIZE_MAX - wanted.start - (PAGE - 1);
    if (wanted.size % PAGE || wanted.size > SIZE_MAX - wanted.start)
        return fail(EINVAL);
    struct table *t = lock_table();
    if (t == NULL)
        return fail(ENOMEM);
    xpmem_segid_t id = make(t, &wanted);
    unlock_table(t);
    return id;
}

int xpmem_remove(xpmem_segid_t segid)
{
    if (segid <= 0)
        return fail(EINVAL);
    struct table *t = lock_table();
    if (t == NULL)
        return fail(ENOENT);
    struct segment *s = find(t, segid);
    if (s)
        s->shared = false;
    unlock_table(t);
    return s ? 0 : fail(ENOENT);
}

static bool is_permitted(const struct segment *s, int flags)
{
    int wanted = flags == RDWR ? 0600 : 0400;
    return (s->mode & wanted) == wanted;
}

/* An apid is the segid: there is nothing to note about who attaches. The kernel's module does not look at a value of the permission either. */
xpmem_apid_t xpmem_get(xpmem_segid_t segid, int flags, int permit_type, void *permit_value)
{
    if (segid <= 0 || (flags != RDONLY && flags != RDWR) || permit_type != PERMIT_MODE)
        return fail(EINVAL);
    struct table *t = lock_table();
    if (t == NULL)
        return fail(ENOENT);
    const struct segment *s = find(t, segid);
    int error = s == NULL ? ENOENT : is_permitted(s, flags) ? 0 : EACCES;
    unlock_table(t);
    return error ? fail(error) : segid;
}

/* The owner may have removed the segment before, as libraries do in any order when they end. */
int xpmem_release(xpmem_apid_t apid)
{
    if (apid <= 0)
        return fail(EINVAL);
    struct table *t = lock_table();
    if (t == NULL)
        return fail(ENOENT);
    bool known = is_of_space(t, apid);
    unlock_table(t);
    return known ? 0 : fail(ENOENT);
}

void *xpmem_attach(struct xpmem_addr from, size_t size, void *address)
{
    void *found = MAP_FAILED;
    if (from.apid <= 0 || from.offset < 0 || from.offset % PAGE || size == 0 || address) {
        errno = EINVAL; /* memory of one address space has one address */
        return found;
    }
    errno = ENOENT;
    struct table *t = lock_table();
    if (t == NULL)
        return found;
    const struct segment *s = find(t, from.apid);
    size_t offset = (size_t)from.offset;
    if (s && (offset > s->size || size > s->size - offset))
        errno = EINVAL;
    else if (s)
        found = (void *)(s->start + offset);
    unlock_table(t);
    return found;
}

int xpmem_detach(void *address)
{
    return 0;
}
