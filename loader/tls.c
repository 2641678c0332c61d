// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Thread-local storage of private objects (general- and local-dynamic model).
 *
 * Compiled code asks __tls_get_addr({module, offset}). Module ids of private
 * objects carry TAG, far outside the ids of ld.so, and are served here from a
 * table per thread, indexed by module; every other id goes on to ld.so.
 *
 * Blocks and tables come from pages that the thread takes straight from the
 * kernel: the first touch may happen below malloc or below a hook on mmap, where
 * neither may be entered again. They are returned when the thread ends.
 */
#include "loader.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TAG ((uintptr_t)1 << 40)

struct module {
    const void *init;
    size_t filesz, memsz, align;
};

/* Chunk c holds FIRST << c modules and never moves, so readers need no lock. */
enum { FIRST = 64, CHUNKS = 32 };
static struct module *_Atomic chunks[CHUNKS];
static size_t nmodules;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

struct arena {
    struct arena *older;
    size_t size, used; /* bytes, this header included */
};

struct thread_tls {
    void **block; /* by module index; NULL: not yet touched */
    size_t nblocks;
    struct arena *arena;
};
static __thread struct thread_tls mine __attribute__((tls_model("initial-exec")));

extern void *__tls_get_addr(void *);

/* The key's destructor returns the pages. Made at load, so that its number is
 * small and pthread_setspecific never allocates. */
static pthread_key_t key;

static void release_thread(void);

/* Destructors of other keys, in any order, may still use the blocks: they go in the
 * last round. The value counts rounds. */
static void thread_ends(void *round)
{
    uintptr_t n = (uintptr_t)round;
    if (n < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(key, (void *)(n + 1));
    else
        release_thread();
}

__attribute__((constructor(101))) static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
}

static struct module *module_at(size_t index)
{
    size_t n = index / FIRST + 1;
    int c = 63 - __builtin_clzl(n);
    struct module *chunk = atomic_load_explicit(&chunks[c], memory_order_acquire);
    return &chunk[index - FIRST * (((size_t)1 << c) - 1)];
}

/* Returns the tagged id of a new module; 0 when memory is short. */
uintptr_t tpsl_tls_module_new(const void *init, size_t filesz, size_t memsz, size_t align)
{
    uintptr_t id = 0;
    pthread_mutex_lock(&modules_lock);
    size_t n = nmodules / FIRST + 1;
    int c = 63 - __builtin_clzl(n);
    if (!atomic_load(&chunks[c])) {
        struct module *chunk = calloc((size_t)FIRST << c, sizeof *chunk);
        if (!chunk)
            goto out;
        atomic_store_explicit(&chunks[c], chunk, memory_order_release);
    }
    *module_at(nmodules) = (struct module){init, filesz, memsz, align};
    id = TAG | nmodules++;
out:
    pthread_mutex_unlock(&modules_lock);
    return id;
}

static _Noreturn void out_of_memory(void)
{
    static const char line[] = "tpsl: no memory for thread-local storage of a private library\n";
    (void)!write(STDERR_FILENO, line, sizeof line - 1);
    abort();
}

static void *take(size_t size, size_t align)
{
    struct arena *a = mine.arena;
    if (align < sizeof(void *))
        align = sizeof(void *);
    size_t at = a ? (((uintptr_t)a + a->used + align - 1) & ~(align - 1)) - (uintptr_t)a : 0;
    if (!a || at + size > a->size) {
        size_t want = (sizeof *a + align + size + 4095) & ~(size_t)4095;
        a = (struct arena *)syscall(SYS_mmap, NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (a == MAP_FAILED)
            out_of_memory();
        if (!mine.arena)
            pthread_setspecific(key, (void *)1);
        a->older = mine.arena;
        a->size = want;
        mine.arena = a;
        at = (((uintptr_t)a + sizeof *a + align - 1) & ~(align - 1)) - (uintptr_t)a;
    }
    a->used = at + size;
    return (char *)a + at;
}

static __attribute__((noinline)) char *first_touch(size_t index)
{
    if (index >= mine.nblocks) {
        size_t n = mine.nblocks ? mine.nblocks : 32;
        while (n <= index)
            n *= 2;
        void **table = take(n * sizeof *table, sizeof *table);
        if (mine.nblocks)
            memcpy(table, mine.block, mine.nblocks * sizeof *table);
        mine.block = table;
        mine.nblocks = n;
    }
    if (!mine.block[index]) {
        const struct module *m = module_at(index);
        char *block = take(m->memsz, m->align);
        memcpy(block, m->init, m->filesz);
        mine.block[index] = block;
    }
    return mine.block[index];
}

void *tpsl_tls_get_addr(void *arg)
{
    const uintptr_t *ti = arg;
    if (__builtin_expect(!(ti[0] & TAG), 0))
        return __tls_get_addr(arg);
    size_t index = ti[0] & (TAG - 1);
    if (__builtin_expect(index < mine.nblocks && mine.block[index], 1))
        return (char *)mine.block[index] + ti[1];
    return first_touch(index) + ti[1];
}

void *tpsl_tls_block(uintptr_t module)
{
    size_t index = module & (TAG - 1);
    return module & TAG && index < mine.nblocks ? mine.block[index] : NULL;
}

static void release_thread(void)
{
    struct arena *a = mine.arena;
    mine = (struct thread_tls){0};
    while (a) {
        struct arena *older = a->older;
        syscall(SYS_munmap, a, a->size);
        a = older;
    }
}
