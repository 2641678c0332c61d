// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signals of faulting code and of abort(): the loader's guarded copies recover, anything
 * else is told to the launcher with the rank and to stderr, and then takes its course.
 *
 * The Go runtime puts handlers of its own on these signals when libtpsl is loaded;
 * a crash of the program would end in a Go trace and exit code 2 instead of the
 * signal and a core. So the dispositions of before are put back once it is up: Go
 * code of the runtime does not count on recovering from faults.
 */
#include "dispatch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE};
enum { NSIGNALS = sizeof signals / sizeof *signals, NFAULTS = NSIGNALS - 1 };

static struct sigaction program[NSIGNALS]; /* dispositions without us */
static pid_t self;                         /* the process whose threads are ranks */
static struct tpsl_wire control = {.fd = -1};

/* Before the Go runtime: its start is in the .init_array, behind priorities. */
__attribute__((constructor(101))) static void remember(void)
{
    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], NULL, &program[i]);
}

/* After the Go runtime has started: cmd/libtpsl calls it when it is loaded. */
void tpsl_restore_signals(void)
{
    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], &program[i], NULL);
}

void tpsl_set_control_fd(int fd)
{
    tpsl_wire_open(&control, fd);
}

static void tell_launcher(int signal)
{
    char line[64];
    if (!tpsl_self || !tpsl_wire_is_open(&control))
        return;
    int n = snprintf(line, sizeof line, "fault rank=%d signal=%d\n", tpsl_self->rank, signal);
    (void)!write(control.fd, line, (size_t)n);
}

static void report(int signal, siginfo_t *info, void *context)
{
    char whom[80];
    if (!tpsl_self)
        return;
    snprintf(whom, sizeof whom, "rank %d (slot %d, thread %d)", tpsl_self->rank, tpsl_self->slot, gettid());
    tpsl_crash_report(whom, signal, info, context);
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

/* A handler of the program is called as if it were installed. Else the default comes
 * back and the fault happens again under it; a signal that was sent does not, so it is
 * sent again. A child that the program forked is not the rank. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;
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
    if (getpid() == self) {
        tell_launcher(signal);
        report(signal, info, context);
    }
    sigaction(signal, &program[i], NULL);
    if (sent)
        raise(signal);
}

void tpsl_watch_faults(void)
{
    self = getpid();
    tpsl_walk_prepare();
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < NFAULTS; i++)
        sigaction(signals[i], &ours, &program[i]);
}
