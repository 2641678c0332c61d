// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A lock for code at the very end of a thread. A sanitizer replaces libc's functions for locks and signal
 * masks, and does not know the thread any more at that time. So this lock makes system calls itself. A
 * thread that waits sleeps, because with real-time priorities a thread that spins could keep the owner
 * from running.
 *
 * The word is FREE, HELD, or WANTED, which means held while another thread may sleep. Unlocking makes a
 * system call only from WANTED. It wakes one thread, which sets the word to WANTED again, as it cannot
 * know whether it was the last one.
 */
#include "thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE, HELD, WANTED };

void tpsl_hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, before, _NSIG / 8);
}

void tpsl_let_signals(const sigset_t *before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, _NSIG / 8);
}

void tpsl_lock(atomic_int *word, sigset_t *before)
{
    int state = FREE, error = errno;
    tpsl_hold_signals(before);
    if (atomic_compare_exchange_strong_explicit(word, &state, HELD, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(word, WANTED, memory_order_acquire) != FREE)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, WANTED, NULL, NULL, 0);
    errno = error; /* the value of the caller, which may be a signal handler */
}

void tpsl_unlock(atomic_int *word, const sigset_t *before)
{
    if (atomic_exchange_explicit(word, FREE, memory_order_release) == WANTED)
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    tpsl_let_signals(before);
}
