// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* One copy: process_vm_readv/writev between two instances of one address space is a
 * memcpy. The instances are in one process, or in processes that share the space.
 *
 * The first call that addresses the process itself always goes to the kernel, because
 * libraries find out by such a call whether cross-memory access works at all. If the
 * kernel refuses it (Yama, seccomp), and the library may have to copy from another
 * process, too, the library must see the refusal.
 *
 * A bad address gives EFAULT, as in the kernel. The program's handler of SIGSEGV and
 * SIGBUS calls tpsl_copy_fault, which jumps back if the copy has caused the fault. A
 * program may have a handler that does not, such as that of Fortran's runtime.
 */
#include "libc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { LOWEST = 4096 }; /* a page */
enum probe { UNTRIED, ALLOWED, REFUSED };
static _Atomic int probe;
static atomic_bool peers;
static pid_t self; /* cached: getpid is a system call */
static int *volatile const *siblings;
static size_t nsiblings;

void tpsl_set_process_peers(bool others)
{
    atomic_store(&peers, others);
}

__thread sigjmp_buf *volatile tpsl_copy_recovery __attribute__((tls_model("initial-exec")));

/* The mask comes from the handler's context, because to save it at each copy would be a system call. */
void tpsl_copy_fault(const void *context)
{
    if (!tpsl_copy_recovery)
        return;
    pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
    siglongjmp(*tpsl_copy_recovery, 1);
}

void tpsl_set_siblings(int *volatile const *ids, size_t n)
{
    siblings = ids;
    nsiblings = n;
}

/* A child made by fork has a copy of the memory, which it does not share. */
static void note_pid(void)
{
    self = getpid();
    nsiblings = 0;
}

static bool is_here(pid_t pid)
{
    bool here = pid == self;
    for (size_t i = 0; i < nsiblings && !here; i++) {
        const volatile int *id = siblings[i];
        here = id && *id == pid;
    }
    return here;
}

__attribute__((constructor(101))) static void start(void)
{
    note_pid();
    pthread_atfork(NULL, NULL, note_pid);
}

/* Nothing is in the lowest pages (vm.mmap_min_addr), so no fault is needed to know such an address as bad. UCX 1.23 makes such calls
 * at its start, to measure how long the kernel takes to refuse one. */
static bool is_null(const struct iovec *v)
{
    return (uintptr_t)v->iov_base < LOWEST;
}

/* Copies between the two lists and keeps *done up to date for the case of a fault. False: it met a null pointer. */
static __attribute__((noinline)) bool copy_pairs(const struct iovec *to, unsigned long nto, const struct iovec *from, unsigned long nfrom, volatile size_t *done)
{
    size_t at_to = 0, at_from = 0;
    while (nto && nfrom) {
        size_t left_to = to->iov_len - at_to, left_from = from->iov_len - at_from;
        size_t n = left_to < left_from ? left_to : left_from;
        if (n && (is_null(to) || is_null(from)))
            return false;
        tpsl_copy_bytes((char *)to->iov_base + at_to, (const char *)from->iov_base + at_from, n);
        *done += n;
        at_to += n;
        at_from += n;
        if (at_to == to->iov_len)
            at_to = 0, to++, nto--;
        if (at_from == from->iov_len)
            at_from = 0, from++, nfrom--;
    }
    return true;
}

/* The number of bytes copied before the first fault, or -1 and EFAULT if there are none. */
static ssize_t copy(const struct iovec *to, unsigned long nto, const struct iovec *from, unsigned long nfrom)
{
    volatile size_t done = 0;
    sigjmp_buf back;
    if (sigsetjmp(back, 0) == 0) {
        tpsl_copy_recovery = &back;
        bool whole = copy_pairs(to, nto, from, nfrom, &done);
        tpsl_copy_recovery = NULL;
        if (whole)
            return (ssize_t)done;
    }
    tpsl_copy_recovery = NULL;
    errno = EFAULT;
    return done ? (ssize_t)done : -1;
}

/* Whether a call to `pid` may be served here; asks the kernel once, by the call
 * itself, whose result is then *result. */
static bool ours(pid_t pid, ssize_t *result, ssize_t (*kernel)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long),
                 const struct iovec *l, unsigned long nl, const struct iovec *r, unsigned long nr)
{
    int state = atomic_load_explicit(&probe, memory_order_relaxed);
    bool here = is_here(pid);
    if (here && (state == ALLOWED || (state == REFUSED && !atomic_load(&peers))))
        return true;
    *result = kernel(pid, l, nl, r, nr, 0);
    if (here && state == UNTRIED) {
        bool refused = *result < 0 && (errno == EPERM || errno == ENOSYS);
        atomic_store(&probe, refused ? REFUSED : ALLOWED);
        return refused && !atomic_load(&peers);
    }
    return false;
}

ssize_t tpsl_process_vm_readv(pid_t pid, const struct iovec *l, unsigned long nl, const struct iovec *r, unsigned long nr, unsigned long flags)
{
    ssize_t result;
    if (flags)
        return process_vm_readv(pid, l, nl, r, nr, flags);
    return ours(pid, &result, process_vm_readv, l, nl, r, nr) ? copy(l, nl, r, nr) : result;
}

ssize_t tpsl_process_vm_writev(pid_t pid, const struct iovec *l, unsigned long nl, const struct iovec *r, unsigned long nr, unsigned long flags)
{
    ssize_t result;
    if (flags)
        return process_vm_writev(pid, l, nl, r, nr, flags);
    return ours(pid, &result, process_vm_writev, l, nl, r, nr) ? copy(r, nr, l, nl) : result;
}
