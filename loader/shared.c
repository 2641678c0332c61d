// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* One mapping: a shared segment that several instances attach is mapped once.
 *
 * Every rank attaches every other rank's segment. In separate processes that is
 * N maps each; in one process it would be N*N maps of the same pages, and N near
 * 170 ends at vm.max_map_count. So a second instance that asks for a segment gets
 * the address of the first one's mapping, and the last one to leave unmaps it.
 *
 * A segment is (device, inode, offset, length, protection) for mmap and the id for
 * shmat. An instance that maps a segment twice gets two mappings, as it would in
 * a process of its own: programs may count on two addresses.
 */
#include "loader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

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
        return; /* not shared, but mapped */
    *m = (struct mapping){.next = mappings, .key = *k, .address = address};
    if (add_user(m, tpsl_current))
        mappings = m;
    else
        free(m);
}

/* Drops an instance's use of the mapping at p. True: others still use it, so it must
 * stay. */
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

static bool overlaps(const struct mapping *m, const char *start, size_t length)
{
    return m->key.device != UINT64_MAX && start < m->address + m->key.length && m->address < start + length;
}

/* Unmaps what nobody else uses. A part of a segment that others use stays mapped
 * until the last of them leaves; the caller cannot tell. */
int tpsl_munmap(void *start, size_t length)
{
    bool stays = false;
    int rc = 0;
    pthread_mutex_lock(&lock);
    for (struct mapping **p = &mappings; *p;) {
        struct mapping *m = *p;
        if (overlaps(m, start, length) && leave(p, tpsl_current))
            stays = true;
        if (*p == m)
            p = &m->next;
    }
    pthread_mutex_unlock(&lock);
    if (!stays)
        rc = munmap(start, length);
    return rc;
}

void *tpsl_shmat(int id, const void *hint, int flags)
{
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
    bool stays = false;
    pthread_mutex_lock(&lock);
    for (struct mapping **p = &mappings; *p; p = &(*p)->next)
        if ((*p)->key.device == UINT64_MAX && (*p)->address == address) {
            stays = leave(p, tpsl_current);
            break;
        }
    pthread_mutex_unlock(&lock);
    return stays ? 0 : shmdt(address);
}

void tpsl_shared_end_instance(struct tpsl_instance *in)
{
    pthread_mutex_lock(&lock);
    for (struct mapping **p = &mappings; *p;) {
        struct mapping *m = *p, was = *m;
        if (*user_of(m, in) && !leave(p, in)) {
            if (was.key.device == UINT64_MAX)
                shmdt(was.address);
            else
                munmap(was.address, was.key.length);
        }
        if (*p == m)
            p = &m->next;
    }
    pthread_mutex_unlock(&lock);
}
