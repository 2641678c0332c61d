// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A stack for signal handlers for each thread that acts for a rank. A stack that the thread has already
 * stays: the program's, or the one that the Go runtime gives to threads that call it, as a claim does.
 */
#include "process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Handlers of the program run on it, too. Only what they touch becomes memory. */
enum { SIZE = 128 << 10, GUARD = 4096 };

static pthread_key_t key;

static void thread_ends(void *stack)
{
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == (char *)stack + GUARD)
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    syscall(SYS_munmap, stack, GUARD + SIZE);
}

__attribute__((constructor(101))) static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
}

/* By system calls, past the hooks that libraries put on mmap. */
void tpsl_give_signal_stack(void)
{
    static __thread bool seen __attribute__((tls_model("initial-exec")));
    stack_t now;
    if (seen)
        return;
    seen = true;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    char *stack = (char *)syscall(SYS_mmap, NULL, GUARD + SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return; /* an overflow then goes unreported */
    mprotect(stack, GUARD, PROT_NONE);
    sigaltstack(&(stack_t){.ss_sp = stack + GUARD, .ss_size = SIZE}, NULL);
    pthread_setspecific(key, stack);
}
