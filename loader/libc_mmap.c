// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* One mapping: a shared segment that several instances attach is mapped once.
 *
 * Libraries for messages attach the segment of every process with which they exchange messages. Separate
 * processes have N maps each. In one process there would be N*N maps of the same pages, and with N near
 * 170 they would exceed vm.max_map_count. So a second instance that asks for a segment gets
 * the address of the first one's mapping, and the last instance that unmaps the segment really unmaps it.
 *
 * A segment is (device, inode, offset, length, protection) for mmap and the id for
 * shmat. An instance that maps a segment twice gets two mappings, as it would in
 * a process of its own: programs may count on two addresses.
 *
 * An instance may unmap a part. The mapping is then divided, so that each part has its own users.
 */
#include "object.h"
#include "libc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

struct key {
    uint64_t device, inode; /* shmat: UINT64_MAX and the segment id */
    uint64_t offset, length;
    uint64_t protection; /* PROT_*, or SHM_* flags */
};

struct user {
    struct user *next;
    struct tpsl_instance *instance;
};

struct mapping {
    struct mapping *next;
    struct key key;
    char *address;
    struct user *users;
};

static struct mapping *mappings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct user **user_of(struct mapping *m, const struct tpsl_instance *in)
{
    struct user **u = &m->users;
    while (*u && (*u)->instance != in)
        u = &(*u)->next;
    return u;
}

static bool add_user(struct mapping *m, struct tpsl_instance *in)
{
    struct user *u = malloc(sizeof *u);
    if (!u)
        return false;
    *u = (struct user){m->users, in};
    m->users = u;
    return true;
}

/* The address of the segment as mapped by another instance, or NULL. */
static void *join(const struct key *k)
{
    for (struct mapping *m = mappings; m; m = m->next)
        if (memcmp(&m->key, k, sizeof *k) == 0 && m->users && !*user_of(m, tpsl_current))
            return add_user(m, tpsl_current) ? m->address : NULL;
    return NULL;
}

static void record(const struct key *k, void *address)
{
    struct mapping *m = malloc(sizeof *m);
    if (!m)
        return; /* the segment is mapped, but it will not be shared */
    *m = (struct mapping){.next = mappings, .key = *k, .address = address};
    if (add_user(m, tpsl_current))
        mappings = m;
    else
        free(m);
}

/* Removes an instance from the users of the mapping at p. The result is true if others still
 * use the mapping, so that it must stay. */
static bool leave(struct mapping **p, const struct tpsl_instance *in)
{
    struct mapping *m = *p;
    struct user **u = user_of(m, in);
    if (*u) {
        struct user *gone = *u;
        *u = gone->next;
        free(gone);
    }
    if (m->users)
        return true;
    *p = m->next;
    free(m);
    return false;
}

void *tpsl_mmap(void *hint, size_t length, int protection, int flags, int fd, off_t offset)
{
    TPSL_INSIDE;
    struct stat st;
    int kind = flags & MAP_TYPE;
    bool shareable = tpsl_current && !hint && fd >= 0 && (kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE) &&
                     !(flags & (MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)) && fstat(fd, &st) == 0 &&
                     S_ISREG(st.st_mode); /* what a device maps depends on the descriptor */
    if (!shareable)
        return mmap(hint, length, protection, flags, fd, offset);
    struct key k = {st.st_dev, st.st_ino, (uint64_t)offset, length, (uint64_t)protection};
    pthread_mutex_lock(&lock);
    void *address = join(&k);
    if (!address) {
        address = mmap(NULL, length, protection, flags, fd, offset);
        if (address != MAP_FAILED)
            record(&k, address);
    }
    pthread_mutex_unlock(&lock);
    return address;
}

static size_t whole_pages(size_t length)
{
    size_t page = (size_t)getpagesize();
    return (length + page - 1) & ~(page - 1);
}

static char *end_of(const struct mapping *m)
{
    return m->address + whole_pages(m->key.length);
}

static bool is_sysv(const struct mapping *m)
{
    return m->key.device == UINT64_MAX;
}

static void free_mapping(struct mapping *m)
{
    for (struct user *u = m->users, *next; u; u = next) {
        next = u->next;
        free(u);
    }
    free(m);
}

/* Divides a mapping into two, with the same users. The result is false if there is no memory. */
static bool cut(struct mapping *m, size_t at)
{
    struct mapping *rest = malloc(sizeof *rest);
    if (!rest)
        return false;
    *rest = (struct mapping){.next = m->next, .key = m->key, .address = m->address + at};
    for (const struct user *u = m->users; u; u = u->next)
        if (!add_user(rest, u->instance)) {
            free_mapping(rest);
            return false;
        }
    rest->key.offset += at;
    rest->key.length -= at;
    m->key.length = at;
    m->next = rest;
    return true;
}

static bool cut_at(const char *edge)
{
    for (struct mapping *m = mappings; m; m = m->next)
        if (!is_sysv(m) && m->address < edge && edge < end_of(m) && !cut(m, (size_t)(edge - m->address)))
            return false;
    return true;
}

static bool is_inside(const struct mapping *m, const char *start, const char *end)
{
    return !is_sysv(m) && start <= m->address && m->address < end;
}

static void leave_all(const char *start, const char *end)
{
    for (struct mapping **p = &mappings; *p;) {
        struct mapping *m = *p;
        if (is_inside(m, start, end))
            leave(p, tpsl_current);
        if (*p == m)
            p = &m->next;
    }
}

static const struct mapping *lowest(const char *start, const char *end)
{
    const struct mapping *found = NULL;
    for (const struct mapping *m = mappings; m; m = m->next)
        if (is_inside(m, start, end) && (!found || m->address < found->address))
            found = m;
    return found;
}

/* Unmaps the range except for the parts that still have users. It gives up the lock when it has found
 * all these parts, before it unmaps: libucm hooks munmap, and its handlers may map memory. */
static int unmap_around_users(char *start, char *end)
{
    const struct mapping *used = lowest(start, end);
    char *stop = used ? used->address : end;
    int rc = 0;
    if (used && end_of(used) < end)
        rc = unmap_around_users(end_of(used), end);
    else
        pthread_mutex_unlock(&lock);
    return start < stop && munmap(start, (size_t)(stop - start)) != 0 ? -1 : rc;
}

/* Memory that other instances use stays mapped until the last of them unmaps it. The caller does not notice this. */
int tpsl_munmap(void *address, size_t length)
{
    TPSL_INSIDE;
    char *start = address, *end = start + whole_pages(length);
    if (length == 0 || whole_pages((uintptr_t)start) != (uintptr_t)start)
        return munmap(address, length); /* the kernel returns the error */
    pthread_mutex_lock(&lock);
    if (cut_at(start) && cut_at(end)) {
        leave_all(start, end);
        return unmap_around_users(start, end);
    }
    pthread_mutex_unlock(&lock);
    errno = ENOMEM;
    return -1;
}

void *tpsl_shmat(int id, const void *hint, int flags)
{
    TPSL_INSIDE;
    if (hint || !tpsl_current)
        return shmat(id, hint, flags);
    struct key k = {UINT64_MAX, (uint64_t)id, 0, 0, (uint64_t)flags};
    pthread_mutex_lock(&lock);
    void *address = join(&k);
    if (!address) {
        address = shmat(id, NULL, flags);
        if (address != (void *)-1)
            record(&k, address);
    }
    pthread_mutex_unlock(&lock);
    return address;
}

int tpsl_shmdt(const void *address)
{
    TPSL_INSIDE;
    bool stays = false, others = false; /* the segment at the address is used by others only */
    pthread_mutex_lock(&lock);
    for (struct mapping **p = &mappings; *p; p = &(*p)->next)
        if (is_sysv(*p) && (*p)->address == address) {
            others = !*user_of(*p, tpsl_current);
            stays = !others && leave(p, tpsl_current);
            break;
        }
    pthread_mutex_unlock(&lock);
    if (others) {
        errno = EINVAL;
        return -1;
    }
    return stays ? 0 : shmdt(address);
}

void tpsl_segments_end_instance(struct tpsl_instance *in)
{
    pthread_mutex_lock(&lock);
    for (struct mapping **p = &mappings; *p;) {
        struct mapping *m = *p, was = *m;
        if (*user_of(m, in) && !leave(p, in)) {
            if (is_sysv(&was))
                shmdt(was.address);
            else
                munmap(was.address, was.key.length);
        }
        if (*p == m)
            p = &m->next;
    }
    pthread_mutex_unlock(&lock);
}
