// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Thread-local storage of private objects (general- and local-dynamic model).
 *
 * Compiled code asks __tls_get_addr({module, offset}). Module ids of private
 * objects contain TAG, which no id of ld.so does. They are served here from a table
 * per thread, indexed by module. All other ids are passed on to ld.so.
 *
 * Blocks and tables come from pages that the thread takes directly from the
 * kernel. The first access may happen inside malloc or inside a hook on mmap, where
 * neither may be entered again. The pages are returned when the thread ends.
 *
 * The index of a module that ended is used again, under another id. Threads keep its
 * block until they touch the next module of that index, which takes the block over if
 * it is large enough.
 */
#include "loader.h"
#include "thread.h"
#include "tls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An id has the index in the lower half, then TAG, and above it how often the index was used. */
#define TAG ((uintptr_t)1 << 40)
#define ONE_MORE_USE (TAG << 1)

struct module {
    uintptr_t id; /* of its last use */
    bool live;
    struct tpsl_tls_segment segment;
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

__thread struct tpsl_thread_tls tpsl_thread_tls __attribute__((tls_model("initial-exec")));
#define mine tpsl_thread_tls

extern void *__tls_get_addr(void *);

/* tls_desc_linux_amd64.S uses the same layout. */
_Static_assert(offsetof(struct tpsl_thread_tls, blocks) == 0 && offsetof(struct tpsl_thread_tls, nblocks) == 8 &&
                   offsetof(struct tpsl_tls_block, id) == 0 && offsetof(struct tpsl_tls_block, start) == 8 && sizeof(struct tpsl_tls_block) == 24,
               "tls_desc_linux_amd64.S");

static int (*libc_munmap)(void *, size_t); /* not that of a sanitizer, which comes before libc and may not know the thread any more */

static struct module *module_at(size_t index)
{
    size_t n = index / FIRST + 1;
    int c = 63 - __builtin_clzl(n);
    struct module *chunk = atomic_load_explicit(&chunks[c], memory_order_acquire);
    return &chunk[index - FIRST * (((size_t)1 << c) - 1)];
}

static size_t index_of(uintptr_t id)
{
    return (uint32_t)id;
}

/* The lowest index without a module, so that a library that is closed and opened again gets
 * the same index. It grows the table when all indices are in use. Preconditions: modules_lock is held. */
static struct module *free_module(void)
{
    for (size_t i = 0; i < nmodules; i++)
        if (!module_at(i)->live)
            return module_at(i);
    size_t n = nmodules / FIRST + 1;
    int c = 63 - __builtin_clzl(n);
    if (!atomic_load(&chunks[c])) {
        struct module *chunk = calloc((size_t)FIRST << c, sizeof *chunk);
        if (!chunk)
            return NULL;
        atomic_store_explicit(&chunks[c], chunk, memory_order_release);
    }
    struct module *m = module_at(nmodules);
    m->id = TAG | nmodules++;
    return m;
}

uintptr_t tpsl_tls_module_new(const struct tpsl_tls_segment *s)
{
    pthread_mutex_lock(&modules_lock);
    struct module *m = free_module();
    if (m)
        *m = (struct module){m->id + ONE_MORE_USE, true, *s};
    uintptr_t id = m ? m->id : 0;
    pthread_mutex_unlock(&modules_lock);
    return id;
}

void tpsl_tls_module_end(uintptr_t id)
{
    pthread_mutex_lock(&modules_lock);
    module_at(index_of(id))->live = false;
    pthread_mutex_unlock(&modules_lock);
}

bool tpsl_tls_is_live(uintptr_t id)
{
    const struct module *m = module_at(index_of(id));
    return m->live && m->id == id;
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
            tpsl_thread_end_watch();
        a->older = mine.arena;
        a->size = want;
        mine.arena = a;
        at = (((uintptr_t)a + sizeof *a + align - 1) & ~(align - 1)) - (uintptr_t)a;
    }
    a->used = at + size;
    return (char *)a + at;
}

static void grow_table(size_t index)
{
    size_t n = mine.nblocks ? mine.nblocks : 32;
    while (n <= index)
        n *= 2;
    struct tpsl_tls_block *table = take(n * sizeof *table, sizeof(void *));
    if (mine.nblocks)
        memcpy(table, mine.blocks, mine.nblocks * sizeof *table);
    mine.blocks = table;
    mine.nblocks = n;
}

/* Makes the block of a module, at an index that has no block or the block of another module. The id is
 * stored last, as readers of the block check it. */
static void make_block(struct tpsl_tls_block *b, uintptr_t id)
{
    const struct tpsl_tls_segment *s = &module_at(index_of(id))->segment;
    b->id = 0;
    if (s->in_static_block) {
        *b = (struct tpsl_tls_block){0, (char *)__builtin_thread_pointer() + s->from_thread_pointer, 0};
    } else {
        if (b->size < s->memsz || (uintptr_t)b->start & (s->align - 1))
            *b = (struct tpsl_tls_block){0, take(s->memsz, s->align), s->memsz};
        memcpy(b->start, s->init, s->filesz);
        memset(b->start + s->filesz, 0, s->memsz - s->filesz);
    }
    atomic_signal_fence(memory_order_release);
    b->id = id;
}

/* Signals are blocked meanwhile, because a handler could find an incomplete block, or take memory from the same arena. */
static __attribute__((noinline)) char *first_touch(uintptr_t id)
{
    sigset_t before;
    size_t index = index_of(id);
    tpsl_hold_signals(&before);
    if (index >= mine.nblocks)
        grow_table(index);
    struct tpsl_tls_block *b = &mine.blocks[index];
    if (b->id != id) /* a handler may have made the block before */
        make_block(b, id);
    tpsl_let_signals(&before);
    return b->start;
}

void *tpsl_tls_get_addr(void *arg)
{
    const uintptr_t *ti = arg;
    size_t index = index_of(ti[0]);
    if (__builtin_expect(index < mine.nblocks && mine.blocks[index].id == ti[0], 1))
        return mine.blocks[index].start + ti[1];
    if (!(ti[0] & TAG))
        return __tls_get_addr(arg);
    return first_touch(ti[0]) + ti[1];
}

void *tpsl_tls_block(uintptr_t id)
{
    size_t index = index_of(id);
    return id && index < mine.nblocks && mine.blocks[index].id == id ? mine.blocks[index].start : NULL;
}

static void release(int (*unmap)(void *, size_t))
{
    struct arena *a = mine.arena;
    mine = (struct tpsl_thread_tls){0};
    while (a) {
        struct arena *older = a->older;
        unmap(a, a->size);
        a = older;
    }
}

static int unmap_silently(void *start, size_t size)
{
    return (int)syscall(SYS_munmap, start, size);
}

/* A thread-local variable may be registered with a NIC, because a library has sent it. libucm learns
 * from its hook on libc's munmap that the memory goes. The handlers of libucm are code of instances and
 * may touch thread-local variables again; the memory of these is unmapped by system calls, which the
 * hook does not see. */
static void release_thread(void)
{
    release(libc_munmap);
    release(unmap_silently);
}

__attribute__((constructor(101))) static void add_to_thread_end(void)
{
    tpsl_thread_end_step(TPSL_END_TLS, release_thread);
    /* libc is opened by name, because RTLD_NEXT may not find libc if a preloaded library has loaded us. */
    libc_munmap = (int (*)(void *, size_t))dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "munmap");
}

uintptr_t tpsl_tls_pages(void)
{
    return (uintptr_t)&mine.arena;
}
