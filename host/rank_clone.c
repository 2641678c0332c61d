// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A process that shares the address space, and in which libc works.
 *
 * clone with CLONE_VM alone makes a process with its own descriptors, directory, signals and threads in
 * the memory of its parent. libc finds a thread by the thread pointer, so the new process needs a
 * thread control block that no one else uses. It borrows one: a pthread is made, which clones the rank
 * on its own stack and then sleeps for ever. The kernel must know some addresses in the control block:
 * the thread id, the list of robust mutexes and the restartable sequences. The rank registers them
 * again.
 */
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/rseq.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PARKED_FRAMES = 16384, /* bytes of the stack that stay with the sleeping thread */
    RSEQ_BYTES = 32,       /* what libc registers at least */
    RSEQ_SIGNATURE = 0x53053053, /* with which libc registers, on x86 */
};
static const size_t unlimited_stack = (size_t)1 << 30; /* for ulimit -s unlimited */
/* The kernel keeps as much free below the stack of a process. A function whose variables are larger than the stack
 * then touches no memory of another rank. These are addresses without memory. */
static const size_t stack_guard = (size_t)128 << 20;

/* What the sleeping thread hands over. */
struct loan {
    struct tpsl_rank_process *rank;
    void *robust_list;
    size_t robust_size;
    int *tid; /* in the thread control block */
    int error;
    atomic_bool done; /* the rank runs, or cannot */
};

/* Where libc has its restartable sequences: __rseq_offset and __rseq_size of <sys/rseq.h>. They came with glibc 2.35, and
 * some distributions have them in their 2.34. A libc without them registers nothing. */
static const ptrdiff_t *sequences_offset;
static const unsigned int *sequences_size;

__attribute__((constructor)) static void find_sequences(void)
{
    sequences_offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    sequences_size = dlsym(RTLD_DEFAULT, "__rseq_size");
}

static long rseq(int flags)
{
    if (!sequences_offset || !sequences_size || *sequences_size == 0)
        return 0;
    size_t size = *sequences_size > RSEQ_BYTES ? *sequences_size : RSEQ_BYTES;
    return syscall(SYS_rseq, (char *)__builtin_thread_pointer() + *sequences_offset, size, flags, RSEQ_SIGNATURE);
}

static int rank_main(void *argument)
{
    struct loan *loan = argument;
    struct tpsl_rank_process *r = loan->rank;
    *loan->tid = (int)syscall(SYS_set_tid_address, loan->tid);
    syscall(SYS_set_robust_list, loan->robust_list, loan->robust_size);
    rseq(0);
    tpsl_rank_run(r);
}

static void lend(struct loan *loan)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (syscall(SYS_get_robust_list, 0, &loan->robust_list, &loan->robust_size) != 0 ||
        prctl(PR_GET_TID_ADDRESS, &loan->tid) != 0 || rseq(RSEQ_FLAG_UNREGISTER) != 0) {
        loan->error = errno;
        return;
    }
    tpsl_host.ids[loan->rank->rank->slot] = loan->tid;
    char *stack = (char *)(((uintptr_t)__builtin_frame_address(0) - PARKED_FRAMES) & ~(uintptr_t)63);
    if (clone(rank_main, stack, CLONE_VM | CLONE_PARENT_SETTID | SIGCHLD, loan, loan->rank->pid) < 0)
        loan->error = errno;
}

/* From here on the stack below this frame and the thread control block belong to the rank. */
static void *park(void *argument)
{
    static _Atomic int forever;
    struct loan *loan = argument;
    lend(loan);
    atomic_store(&loan->done, true);
    syscall(SYS_futex, &loan->done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    for (;;)
        syscall(SYS_futex, &forever, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return NULL;
}

static size_t stack_size(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_STACK, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
        return unlimited_stack;
    return r.rlim_cur + PARKED_FRAMES + tpsl_stack_taken();
}

static bool addresses_are_limited(void)
{
    struct rlimit r;
    return getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY;
}

bool tpsl_rank_start(struct tpsl_rank_process *rank)
{
    struct loan *loan = calloc(1, sizeof *loan); /* the rank reads it when we have gone on */
    pthread_attr_t attributes;
    pthread_t thread;
    if (!loan)
        return false;
    loan->rank = rank;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_size());
    if (!addresses_are_limited())
        pthread_attr_setguardsize(&attributes, stack_guard);
    errno = pthread_create(&thread, &attributes, park, loan);
    pthread_attr_destroy(&attributes);
    if (errno != 0)
        return false;
    while (!atomic_load(&loan->done))
        usleep(20);
    errno = loan->error;
    return loan->error == 0;
}
