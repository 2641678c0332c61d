// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signals of faulting code and of abort(). A fault in a guarded copy of the loader recovers. Any other
 * is told to the launcher, with the rank, and to stderr, and then takes its course.
 *
 * The Go runtime installs its own handlers of these signals when the library is loaded. With these, a
 * crash of the program would end in a trace of Go and exit code 2 instead of the signal and a core. So
 * libtpsl puts the dispositions of before back once the runtime is up: its Go code does not count on
 * recovering from faults.
 *
 * In private mode a program that sets a handler replaces this one, as its signals are the rank's. All
 * ranks share `program` there, and each finds the same dispositions.
 */
#include "process.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "loader.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE};
enum { NSIGNALS = sizeof signals / sizeof *signals, NFAULTS = NSIGNALS - 1 };

static struct sigaction program[NSIGNALS]; /* dispositions without us */
static tpsl_find_victim *find_victim;

/* The Go runtime starts in a constructor without priority, so this one comes before it. */
__attribute__((constructor(101))) static void remember(void)
{
    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], NULL, &program[i]);
}

void tpsl_restore_signals(void)
{
    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], &program[i], NULL);
}

static void report(int signal, siginfo_t *info, void *context)
{
    struct tpsl_victim v;
    if (!find_victim(&v))
        return;
    if (v.job)
        tpsl_tell_fault(v.job, v.rank, signal);
    tpsl_crash_report(v.name, signal, info, context);
}

/* Calls the program's handler as the kernel would have: with its mask, and once only if
 * it asked for that (sigaction(2)). */
static void call_theirs(int i, int signal, siginfo_t *info, void *context)
{
    const struct sigaction theirs = program[i];
    sigset_t before, during = theirs.sa_mask;
    if (!(theirs.sa_flags & SA_NODEFER))
        sigaddset(&during, signal);
    if (theirs.sa_flags & (int)SA_RESETHAND)
        program[i].sa_handler = SIG_DFL;
    pthread_sigmask(SIG_BLOCK, &during, &before);
    if (theirs.sa_flags & SA_SIGINFO)
        theirs.sa_sigaction(signal, info, context);
    else
        theirs.sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static _Atomic pid_t probing; /* a thread that finds out whether it has thread-local variables */

/* Without them all that follows would fault, and come here again until the stack for handlers is used up. Then the kernel
 * kills the process, and nobody learns why. A second thread that comes here at the same time makes the first one only try again. */
static bool has_thread_pointer(uintptr_t pc)
{
    static _Atomic uintptr_t crashed; /* where it had none */
    pid_t thread = gettid();
    if (atomic_load(&probing) == thread) {
        tpsl_crash_without_thread(atomic_load(&crashed));
        atomic_store(&probing, 0);
        return false;
    }
    atomic_store(&crashed, pc);
    atomic_store(&probing, thread);
    (void)*(volatile int *)&errno;
    atomic_store(&probing, 0);
    return true;
}

/* A handler of the program is called as if it were installed. Else the default comes
 * back and the fault happens again under it; a signal that was sent does not, so it is
 * sent again. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;
    if (!has_thread_pointer((uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP])) {
        static const uint64_t defaults[4]; /* what the kernel calls a struct sigaction; libc's function has a stack protector */
        for (int n = 0; n < NFAULTS; n++)
            syscall(SYS_rt_sigaction, signals[n], defaults, NULL, sizeof(uint64_t));
        return;
    }
    if (!sent && (signal == SIGSEGV || signal == SIGBUS))
        tpsl_copy_fault(context);
    int i = 0;
    while (signals[i] != signal)
        i++;
    if (program[i].sa_handler == SIG_IGN && sent)
        return;
    if (program[i].sa_handler != SIG_DFL && program[i].sa_handler != SIG_IGN) {
        call_theirs(i, signal, info, context);
        return;
    }
    report(signal, info, context);
    sigaction(signal, &program[i], NULL);
    if (sent)
        raise(signal);
}

void tpsl_watch_faults(tpsl_find_victim *find, bool chained)
{
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    find_victim = find;
    for (int i = 0; i < NFAULTS; i++) {
        struct sigaction before;
        if (chained || (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL))
            sigaction(signals[i], &ours, &program[i]);
    }
}
