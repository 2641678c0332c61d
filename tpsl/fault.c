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

/* A handler of the program is called, as if it were installed. Else the default comes
 * back and the fault happens again under it; a signal that was sent does not, so it is
 * sent again. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS))
        tpsl_copy_fault();
    int i = 0;
    while (signals[i] != signal)
        i++;
    const struct sigaction *theirs = &program[i];
    if (theirs->sa_handler != SIG_DFL && theirs->sa_handler != SIG_IGN) {
        if (theirs->sa_flags & SA_SIGINFO)
            theirs->sa_sigaction(signal, info, context);
        else
            theirs->sa_handler(signal);
        return;
    }
    tell_launcher(signal);
    tpsl_crash_report(signal, info, context);
    sigaction(signal, theirs, NULL);
    if (info->si_code <= 0)
        raise(signal);
}

void tpsl_watch_faults(void)
{
    tpsl_walk_prepare();
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    for (int i = 0; i < NFAULTS; i++)
        sigaction(signals[i], &ours, &program[i]);
}
