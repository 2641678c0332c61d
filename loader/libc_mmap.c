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
 *
 * What else is done to a mapping, mprotect for one, is done for all its users. Libraries for messages do
 * nothing of that kind, but programs may. So what a program maps is its own, and so is each file on a disk.
 */
#include "object.h"
#include "libc.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct key {
    uint64_t device, inode; /* shmat: UINT64_MAX and the segment id */
    uint64_t offset, length;
    uint64_t protection; /* PROT_*, or SHM_* flags */
};

struct mapping {
    struct mapping *next; /* whose key has the same hash */
    struct key key;
    char *address;
    struct tpsl_instance **users;
    size_t nusers, room;
};

enum { CHAINS = 1024, FIRST_ROOM = 8 };

/* All mappings, by the hash of their keys, and by address, the lowest first. Many ranks that start or end at the same time all
 * come here, and one that loses its CPU while it has the lock delays them all. So nobody has it during a system call. */
static struct mapping *by_key[CHAINS];
static struct mapping **by_address;
static size_t nmappings, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct mapping **chain(const struct key *k)
{
    uint64_t h = k->device;
    h = h * 31 + k->inode;
    h = h * 31 + k->offset;
    h = h * 31 + k->length;
    return &by_key[h * 0x9e3779b97f4a7c15 >> 54]; /* the upper 10 bits */
}

static void link_chain(struct mapping *m)
{
    struct mapping **head = chain(&m->key);
    m->next = *head;
    *head = m;
}

static void unlink_chain(const struct mapping *m)
{
    struct mapping **p = chain(&m->key);
    while (*p != m)
        p = &(*p)->next;
    *p = m->next;
}

/* The index of the lowest mapping that begins at the address or above it. */
static size_t first_from(const char *address)
{
    size_t low = 0, high = nmappings;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_address[middle]->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for one more pointer in an array of n. The result is NULL if there is no memory. */
static void *with_room(void *array, size_t n, size_t *has_room)
{
    if (n < *has_room)
        return array;
    size_t wanted = n ? 2 * n : FIRST_ROOM;
    void *larger = realloc(array, wanted * sizeof(void *));
    if (larger)
        *has_room = wanted;
    return larger;
}

static bool enter(struct mapping *m)
{
    struct mapping **larger = with_room(by_address, nmappings, &room);
    if (!larger)
        return false;
    by_address = larger;
    size_t i = first_from(m->address);
    memmove(by_address + i + 1, by_address + i, (nmappings++ - i) * sizeof(void *));
    by_address[i] = m;
    link_chain(m);
    return true;
}

static struct tpsl_instance **user_of(const struct mapping *m, const struct tpsl_instance *in)
{
    for (size_t i = 0; i < m->nusers; i++)
        if (m->users[i] == in)
            return &m->users[i];
    return NULL;
}

static bool add_user(struct mapping *m, struct tpsl_instance *in)
{
    struct tpsl_instance **larger = with_room(m->users, m->nusers, &m->room);
    if (!larger)
        return false;
    m->users = larger;
    m->users[m->nusers++] = in;
    return true;
}

static void free_mapping(struct mapping *m)
{
    free(m->users);
    free(m);
}

/* The address of the segment as mapped by another instance, or NULL. */
static void *join(const struct key *k)
{
    for (struct mapping *m = *chain(k); m; m = m->next)
        if (memcmp(&m->key, k, sizeof *k) == 0 && !user_of(m, tpsl_current))
            return add_user(m, tpsl_current) ? m->address : NULL;
    return NULL;
}

/* Without memory the segment stays mapped, but it will not be shared. */
static void record(const struct key *k, void *address)
{
    struct mapping *m = malloc(sizeof *m);
    if (!m)
        return;
    *m = (struct mapping){.key = *k, .address = address};
    if (!add_user(m, tpsl_current) || !enter(m))
        free_mapping(m);
}

/* Removes an instance from the users of by_address[i]. The result is true if others still use the mapping, so that it must stay. */
static bool leave(size_t i, const struct tpsl_instance *in)
{
    struct mapping *m = by_address[i];
    struct tpsl_instance **u = user_of(m, in);
    if (u)
        *u = m->users[--m->nusers];
    if (m->nusers)
        return true;
    unlink_chain(m);
    memmove(by_address + i, by_address + i + 1, (--nmappings - i) * sizeof(void *));
    free_mapping(m);
    return false;
}

/* A child of fork has one thread. If another thread had the lock, what it was changing is not whole. Then no mapping is known
 * any more, so each is really unmapped. */
static void be_alone(void)
{
    if (pthread_mutex_trylock(&lock) == 0) {
        pthread_mutex_unlock(&lock);
        return;
    }
    memset(by_key, 0, sizeof by_key);
    by_address = NULL;
    nmappings = room = 0;
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(NULL, NULL, be_alone);
}

static void *join_locked(const struct key *k)
{
    tpsl_mutex_lock(&lock);
    void *address = join(k);
    pthread_mutex_unlock(&lock);
    return address;
}

/* The address of the segment that the caller has just mapped, or of that which another instance mapped meanwhile. */
static void *join_or_record(const struct key *k, void *mapped)
{
    tpsl_mutex_lock(&lock);
    void *address = join(k);
    if (!address)
        record(k, mapped);
    pthread_mutex_unlock(&lock);
    return address ? address : mapped;
}

/* Whether a descriptor is of memory that processes share, and its status. What a device maps depends on the descriptor. */
static bool is_segment(int fd, struct stat *st)
{
    struct statfs fs;
    return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && fstatfs(fd, &fs) == 0 &&
           (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

/* Whether code is of the program of a rank. */
static bool is_program(const void *code)
{
    return tpsl_current->rebound == TPSL_REBIND_PROCESS && tpsl_object_at(code) == tpsl_current->first;
}

void *tpsl_mmap(void *hint, size_t length, int protection, int flags, int fd, off_t offset)
{
    TPSL_INSIDE;
    struct stat st;
    int kind = flags & MAP_TYPE;
    bool shareable = tpsl_current && !hint && fd >= 0 && (kind == MAP_SHARED || kind == MAP_SHARED_VALIDATE) &&
                     !(flags & (MAP_ANONYMOUS | MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)) && is_segment(fd, &st) &&
                     !is_program(__builtin_return_address(0));
    if (!shareable)
        return mmap(hint, length, protection, flags, fd, offset);
    struct key k = {st.st_dev, st.st_ino, (uint64_t)offset, length, (uint64_t)protection};
    void *address = join_locked(&k);
    if (address)
        return address;
    void *mapped = mmap(NULL, length, protection, flags, fd, offset);
    if (mapped == MAP_FAILED)
        return mapped;
    address = join_or_record(&k, mapped);
    if (address != mapped)
        munmap(mapped, length);
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

/* Divides a mapping into two, with the same users. The result is false if there is no memory. */
static bool cut(struct mapping *m, size_t at)
{
    struct mapping *rest = malloc(sizeof *rest);
    if (!rest)
        return false;
    *rest = (struct mapping){.key = m->key, .address = m->address + at};
    rest->key.offset += at;
    rest->key.length -= at;
    for (size_t i = 0; i < m->nusers; i++)
        if (!add_user(rest, m->users[i])) {
            free_mapping(rest);
            return false;
        }
    if (!enter(rest)) {
        free_mapping(rest);
        return false;
    }
    unlink_chain(m);
    m->key.length = at;
    link_chain(m);
    return true;
}

static bool cut_at(const char *edge)
{
    size_t i = first_from(edge);
    struct mapping *below = i ? by_address[i - 1] : NULL;
    return !below || is_sysv(below) || edge >= end_of(below) || cut(below, (size_t)(edge - below->address));
}

static void leave_all(const char *start, const char *end)
{
    for (size_t i = first_from(start); i < nmappings && by_address[i]->address < end;)
        if (is_sysv(by_address[i]) || leave(i, tpsl_current))
            i++;
}

static const struct mapping *lowest(const char *start, const char *end)
{
    size_t i = first_from(start);
    while (i < nmappings && is_sysv(by_address[i]))
        i++;
    return i < nmappings && by_address[i]->address < end ? by_address[i] : NULL;
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
    tpsl_mutex_lock(&lock);
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
    if (hint || !tpsl_current || is_program(__builtin_return_address(0)))
        return shmat(id, hint, flags);
    struct key k = {UINT64_MAX, (uint64_t)id, 0, 0, (uint64_t)flags};
    void *address = join_locked(&k);
    if (address)
        return address;
    void *attached = shmat(id, NULL, flags);
    if (attached == (void *)-1)
        return attached;
    address = join_or_record(&k, attached);
    if (address != attached)
        shmdt(attached);
    return address;
}

int tpsl_shmdt(const void *address)
{
    TPSL_INSIDE;
    bool stays = false, others = false; /* the segment at the address is used by others only */
    tpsl_mutex_lock(&lock);
    size_t i = first_from(address);
    if (i < nmappings && by_address[i]->address == address && is_sysv(by_address[i])) {
        others = !user_of(by_address[i], tpsl_current);
        stays = !others && leave(i, tpsl_current);
    }
    pthread_mutex_unlock(&lock);
    if (others) {
        errno = EINVAL;
        return -1;
    }
    return stays ? 0 : shmdt(address);
}

/* Removes the instance from the users of the mappings from the address on. It stops at the first one that now has no users, and
 * returns true; the caller unmaps it. Nobody has the lock then. */
static bool leave_next(const struct tpsl_instance *in, const char **from, struct mapping *gone)
{
    bool found = false;
    tpsl_mutex_lock(&lock);
    for (size_t i = first_from(*from); i < nmappings && !found;) {
        *gone = *by_address[i];
        if (!user_of(gone, in) || leave(i, in))
            i++;
        else
            found = true;
    }
    pthread_mutex_unlock(&lock);
    if (found)
        *from = gone->address;
    return found;
}

void tpsl_segments_end_instance(struct tpsl_instance *in)
{
    const char *from = NULL;
    struct mapping gone;
    while (leave_next(in, &from, &gone))
        if (is_sysv(&gone))
            shmdt(gone.address);
        else
            munmap(gone.address, gone.key.length);
}
