// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Thread-local storage at a fixed distance from the thread pointer (initial-exec and
 * local-exec model, psABI "variant II"), for private objects.
 *
 * Their code adds a constant to %fs, so a thread has room for the variables of one
 * instance only: a block that libtpsl, or the program around it, has among its own
 * thread-locals. All instances of a plan use the same distances, counted from the end
 * of the block down. The block has the values of the instance that the thread acts for.
 * The values of other instances are kept in a block of ordinary thread-local storage, one
 * per thread and instance (the instance's static_tls.kept). They are exchanged when the
 * thread changes to another instance that has such variables, too.
 *
 * dlopen may add such variables to an instance for which threads act already. It then
 * fills the blocks of these threads: see tpsl_static_tls_add. These may write:
 *
 *   tpsl_current     its thread
 *   s.size, s.image  tpsl_static_tls_add; they only grow
 *   block, holds     its thread, or tpsl_static_tls_add, with the thread's lock
 *
 * The locks block signals, because a handler may act for another instance (libc_signals.c), and
 * must not do so while a block is exchanged.
 *
 * A thread stores tpsl_current, then loads the size; tpsl_static_tls_add stores the
 * size, then loads tpsl_current. Both orders are sequentially consistent, so one of
 * the two sees the other and fills the block; the lock makes the other one find it so.
 */
#include "object.h"
#include "thread.h"
#include "tls.h"

#include <stdlib.h>
#include <string.h>

static __thread _Alignas(TPSL_STATIC_TLS_ALIGN) char own_block[TPSL_STATIC_TLS] __attribute__((tls_model("initial-exec")));
static ptrdiff_t block_end; /* distance from the thread pointer, the same in all threads */
static size_t block_size;
static bool for_programs;

/* A thread that has acted for an instance. */
struct thread {
    struct thread *next, *previous;
    atomic_int lock;
    struct tpsl_instance **current;
    char *end;                /* of its block */
    _Atomic uintptr_t holds;  /* the instance whose values are in the block, by static_tls.kept; 0 if there are none */
    _Atomic size_t held;      /* the size of these values in bytes */
    bool listed, ended;
};
static __thread struct thread mine __attribute__((tls_model("initial-exec")));
static struct thread *threads;
static atomic_int threads_lock;

/* The values of an instance that are kept for a thread, from bytes[size - held] on. */
struct kept {
    size_t held;
    char bytes[];
};

static char *thread_pointer(void)
{
    return __builtin_thread_pointer();
}

static void use(void *block, size_t size)
{
    block_end = (char *)block + size - thread_pointer();
    block_size = size;
}

void tpsl_static_tls_lend(void *block, size_t size)
{
    use(block, size);
    for_programs = block_end == 0;
}

/* A child of fork has one thread. Others held the locks, or were on the list, when it was made. */
static void be_alone(void)
{
    atomic_store(&threads_lock, 0);
    atomic_store(&mine.lock, 0);
    mine.next = mine.previous = NULL;
    threads = mine.listed ? &mine : NULL;
}

ptrdiff_t tpsl_static_tls_offset(void)
{
    return block_end;
}

bool tpsl_static_tls_is_for_programs(void)
{
    return for_programs;
}

size_t tpsl_static_tls_size(void)
{
    return block_size;
}

static __attribute__((noinline)) void join(struct tpsl_instance **current)
{
    sigset_t before;
    tpsl_thread_end_watch();
    mine.current = current;
    mine.end = thread_pointer() + block_end;
    if (mine.ended)
        return;
    tpsl_lock(&threads_lock, &before);
    if (!mine.listed) {
        mine.listed = true;
        mine.next = threads;
        if (threads)
            threads->previous = &mine;
        threads = &mine;
    }
    tpsl_unlock(&threads_lock, &before);
}

/* A thread near its end is not listed again: nothing would take it off the list. It still has its values. */
static void leave_list(void)
{
    sigset_t before;
    mine.ended = true;
    if (!mine.listed)
        return;
    tpsl_lock(&threads_lock, &before);
    if (mine.previous)
        mine.previous->next = mine.next;
    else
        threads = mine.next;
    if (mine.next)
        mine.next->previous = mine.previous;
    mine.listed = false;
    tpsl_unlock(&threads_lock, &before);
}

static void leave_block(void)
{
    mine.holds = 0;
}

__attribute__((constructor(101))) static void begin(void)
{
    tpsl_thread_end_step(TPSL_END_LISTED, leave_list);
    tpsl_thread_end_step(TPSL_END_STATIC_TLS, leave_block);
    pthread_atfork(NULL, NULL, be_alone);
    if (!block_size)
        use(own_block, sizeof own_block);
}

static struct kept *kept_of(uintptr_t id)
{
    uintptr_t index[2] = {id, 0};
    return tpsl_tls_get_addr(index);
}

static void keep(struct thread *t)
{
    if (!t->holds || !tpsl_tls_is_live(t->holds))
        return;
    struct kept *k = kept_of(t->holds);
    k->held = t->held;
    memcpy(k->bytes + block_size - t->held, t->end - t->held, t->held);
}

static void restore(struct thread *t, uintptr_t id)
{
    const struct kept *k = tpsl_tls_block(id);
    t->held = k ? k->held : 0;
    t->holds = id;
    if (k)
        memcpy(t->end - k->held, k->bytes + block_size - k->held, k->held);
}

/* Gives the thread the initial values of the variables that it does not have yet. */
static void fill(struct thread *t, const struct tpsl_static_tls *s)
{
    size_t size = atomic_load(&s->size);
    memcpy(t->end - size, s->image + block_size - size, size - t->held);
    t->held = size;
}

static __attribute__((noinline)) void exchange(const struct tpsl_static_tls *s)
{
    sigset_t before;
    tpsl_lock(&mine.lock, &before);
    uintptr_t id = atomic_load(&s->size) ? s->kept : 0;
    if (mine.holds != id) {
        keep(&mine);
        mine.holds = mine.held = 0;
        if (id)
            restore(&mine, id);
    }
    if (id)
        fill(&mine, s);
    tpsl_unlock(&mine.lock, &before);
}

/* Gives the block the values of the instance that the thread acts for. */
static void renew(const struct tpsl_instance *in)
{
    if (in && (mine.holds ? mine.holds != in->static_tls.kept || mine.held != in->static_tls.size : in->static_tls.size != 0))
        exchange(&in->static_tls);
}

void tpsl_static_tls_turn(struct tpsl_instance **current, struct tpsl_instance *in)
{
    if (!mine.listed && !(mine.ended && mine.end))
        join(current);
    __atomic_store_n(current, in, __ATOMIC_SEQ_CST);
    renew(in);
}

/* Writes the initial values of the objects into the image of their instance. */
static size_t extend_image(struct tpsl_static_tls *s, struct tpsl_object *const *objects, size_t n)
{
    size_t size = atomic_load(&s->size);
    for (size_t i = 0; i < n; i++) {
        const struct tpsl_tls_segment *t = &objects[i]->tls;
        if (!t->in_static_block)
            continue;
        memcpy(s->image + block_size - t->in_static_block, t->init, t->filesz);
        if (size < t->in_static_block)
            size = t->in_static_block;
    }
    return size;
}

/* A thread that acts for the instance and holds another's values is about to exchange
 * them itself. */
static void fill_other(struct thread *t, const struct tpsl_instance *in)
{
    sigset_t before;
    tpsl_lock(&t->lock, &before);
    if (__atomic_load_n(t->current, __ATOMIC_SEQ_CST) == in && (!t->holds || t->holds == in->static_tls.kept)) {
        t->holds = in->static_tls.kept;
        fill(t, &in->static_tls);
    }
    tpsl_unlock(&t->lock, &before);
}

bool tpsl_static_tls_prepare(struct tpsl_instance *in)
{
    struct tpsl_static_tls *s = &in->static_tls;
    if (s->image)
        return true;
    s->kept = tpsl_tls_module_new(&(struct tpsl_tls_segment){.memsz = sizeof(struct kept) + block_size, .align = sizeof(size_t)});
    s->image = s->kept ? calloc(1, block_size) : NULL;
    return s->image != NULL;
}

void tpsl_static_tls_add(struct tpsl_instance *in, struct tpsl_object *const *objects, size_t n)
{
    struct tpsl_static_tls *s = &in->static_tls;
    if (!s->image)
        return;
    size_t size = extend_image(s, objects, n);
    if (size == atomic_load(&s->size))
        return;
    sigset_t before;
    tpsl_lock(&threads_lock, &before);
    atomic_store(&s->size, size);
    for (struct thread *t = threads; t; t = t->next)
        fill_other(t, in);
    tpsl_unlock(&threads_lock, &before);
    renew(in); /* the calling thread acts for it, and is not listed any more if it is near its end */
}

void tpsl_static_tls_end_instance(struct tpsl_instance *in)
{
    if (in->static_tls.kept)
        tpsl_tls_module_end(in->static_tls.kept);
    free(in->static_tls.image);
    in->static_tls = (struct tpsl_static_tls){0};
}
