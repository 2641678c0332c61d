// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* libtpslarrays: memory that ranks of one address space share by name, for the Python package tpsl (share/tpsl/python).
 *
 * A rank gives a block of memory a name. Other ranks find the block by rank and name, and use it at the address that it has for
 * its owner. There is one copy of this library for all ranks of the process. In a flat process it serves that process alone.
 *
 * A block has users: the names that lead to it, and the views of it. A block that was made here goes from memory with its last
 * user, whoever that is. A block of an interpreter's own memory is kept by that interpreter, which alone can let it go. So the
 * library gives the block back to its keeper, which asks for it from time to time. When a rank has ended, its blocks stay: its
 * heap is that of the process.
 *
 * No system call is made and nothing of Python is called while the lock is held. A rank that ends lets its other threads leave
 * this library first, and a rank that is killed ends all ranks of the process (host/rank_rest.c, host/reaper.c).
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One interpreter that has blocks. */
struct tpsl_keeper {
    struct tpsl_block *unused; /* its blocks without users, which it has not taken back yet */
};

struct tpsl_block {
    void *address;
    size_t size;
    size_t users;
    struct tpsl_keeper *keeper; /* NULL: the block was made here */
    uint64_t mark;              /* by which the keeper knows it */
    struct tpsl_block *next;    /* of the keeper's unused ones */
};

/* Whose name it is. */
struct tpsl_name {
    int64_t job; /* tells the jobs of one process apart */
    int64_t rank;
    const char *text;
    size_t length;
};

struct entry {
    struct entry *next; /* with the same hash */
    struct tpsl_name name;
    struct tpsl_block *block;
    size_t length; /* of the description, which is for those that view the block */
    char bytes[];  /* description, then the text of the name */
};

enum { CHAINS = 4096 };
static struct entry *chains[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct entry **chain(const struct tpsl_name *n)
{
    uint64_t h = (uint64_t)n->job * 31 + (uint64_t)n->rank;
    for (size_t i = 0; i < n->length; i++)
        h = h * 31 + (unsigned char)n->text[i];
    return &chains[h * 0x9e3779b97f4a7c15 >> 52]; /* the upper 12 bits */
}

static int same(const struct tpsl_name *a, const struct tpsl_name *b)
{
    return a->job == b->job && a->rank == b->rank && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The link to the entry of that name; to NULL: there is none. Precondition: the lock is held. */
static struct entry **find(const struct tpsl_name *n)
{
    struct entry **e = chain(n);
    while (*e && !same(&(*e)->name, n))
        e = &(*e)->next;
    return e;
}

/* ---- blocks ---- */

struct tpsl_keeper *tpsl_keeper_make(void)
{
    return calloc(1, sizeof(struct tpsl_keeper));
}

static struct tpsl_block *make(struct tpsl_block as)
{
    struct tpsl_block *b = malloc(sizeof *b);
    if (b)
        *b = as;
    return b;
}

/* New memory, all zero, with one user; NULL: errno tells. */
struct tpsl_block *tpsl_block_make(size_t size)
{
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        return NULL;
    struct tpsl_block *b = make((struct tpsl_block){.address = address, .size = size, .users = 1});
    if (!b)
        munmap(address, size);
    return b;
}

/* Memory that an interpreter has and keeps, with one user; NULL: no memory. */
struct tpsl_block *tpsl_block_of(struct tpsl_keeper *keeper, uint64_t mark, void *address, size_t size)
{
    return make((struct tpsl_block){.address = address, .size = size, .users = 1, .keeper = keeper, .mark = mark});
}

void *tpsl_block_address(const struct tpsl_block *b)
{
    return b->address;
}

size_t tpsl_block_size(const struct tpsl_block *b)
{
    return b->size;
}

void tpsl_block_leave(struct tpsl_block *b)
{
    pthread_mutex_lock(&lock);
    int gone = --b->users == 0 && !b->keeper;
    if (b->users == 0 && b->keeper) {
        b->next = b->keeper->unused;
        b->keeper->unused = b;
    }
    pthread_mutex_unlock(&lock);
    if (gone) {
        munmap(b->address, b->size);
        free(b);
    }
}

/* The mark of a block of the keeper's that has no users any more, and that is now its own again; 0: there is none. */
uint64_t tpsl_keeper_take(struct tpsl_keeper *keeper)
{
    pthread_mutex_lock(&lock);
    struct tpsl_block *b = keeper->unused;
    if (b)
        keeper->unused = b->next;
    pthread_mutex_unlock(&lock);
    uint64_t mark = b ? b->mark : 0;
    free(b);
    return mark;
}

/* ---- names ---- */

static struct entry *new_entry(const struct tpsl_name *name, struct tpsl_block *block, const void *description, size_t length)
{
    struct entry *e = malloc(sizeof *e + length + name->length);
    if (!e)
        return NULL;
    *e = (struct entry){.name = *name, .block = block, .length = length};
    memcpy(e->bytes, description, length);
    memcpy(e->bytes + length, name->text, name->length);
    e->name.text = e->bytes + length;
    return e;
}

static void drop(struct entry *e)
{
    if (e)
        tpsl_block_leave(e->block);
    free(e);
}

/* Gives the block the name, in place of another block that had it. Precondition: the caller is a user of the block.
 * 0, or -1: no memory. */
int tpsl_name_set(const struct tpsl_name *name, struct tpsl_block *block, const void *description, size_t length)
{
    struct entry *made = new_entry(name, block, description, length);
    if (!made)
        return -1;
    pthread_mutex_lock(&lock);
    struct entry **at = find(name), *before = *at;
    made->next = before ? before->next : NULL;
    *at = made;
    block->users++;
    pthread_mutex_unlock(&lock);
    drop(before);
    return 0;
}

/* -1: there is no such name. */
int tpsl_name_remove(const struct tpsl_name *name)
{
    pthread_mutex_lock(&lock);
    struct entry **at = find(name), *e = *at;
    if (e)
        *at = e->next;
    pthread_mutex_unlock(&lock);
    drop(e);
    return e ? 0 : -1;
}

/* The block of that name, of which the caller is a user from now on; NULL: there is no such name. The description is copied if
 * there is room. Its length comes back in any case, and without room the caller is no user. */
struct tpsl_block *tpsl_name_find(const struct tpsl_name *name, void *description, size_t room, size_t *length)
{
    pthread_mutex_lock(&lock);
    struct entry *e = *find(name);
    struct tpsl_block *block = e ? e->block : NULL;
    *length = e ? e->length : 0;
    if (e && e->length <= room) {
        memcpy(description, e->bytes, e->length);
        block->users++;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

/* Takes back all names of a job that has ended. */
void tpsl_names_end(int64_t job)
{
    struct entry *ended = NULL, *next;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++)
        for (struct entry **at = &chains[i], *e; (e = *at) != NULL;)
            if (e->name.job == job) {
                *at = e->next;
                e->next = ended;
                ended = e;
            } else {
                at = &e->next;
            }
    pthread_mutex_unlock(&lock);
    for (; ended; ended = next) {
        next = ended->next;
        drop(ended);
    }
}

/* ---- who is here ---- */

/* Of libtpslhost (host.h). Without it the process is one rank, or its threads are. */
extern int tpsl_slot_here(void) __attribute__((weak));
extern int tpsl_rank_at(int slot) __attribute__((weak));

int tpsl_here_is_host(void)
{
    return tpsl_slot_here != NULL;
}

/* The slot that the calling process is among the ranks of the address space; -1: none, as a child that a rank forked. */
int tpsl_here_slot(void)
{
    return tpsl_slot_here();
}

/* The rank that a slot is; -1: there is no such slot. */
int tpsl_here_rank(int slot)
{
    return tpsl_rank_at(slot);
}
