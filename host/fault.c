// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signals of a rank's faulting code and of abort(): the loader's guarded copies recover,
 * anything else is told on stderr and takes its course. A program that sets a handler of
 * its own replaces this one, as its signals are the rank's.
 */
#include "host.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* A child that a rank forked is none. */
static void report(int number, siginfo_t *info, void *context)
{
    char whom[80];
    for (int i = 0; i < tpsl_job.nranks; i++) {
        const struct tpsl_rank *r = &tpsl_job.ranks[i];
        if (*r->pid != getpid())
            continue;
        snprintf(whom, sizeof whom, "rank %d (process %d, thread %d)", r->rank, getpid(), gettid());
        tpsl_crash_report(whom, number, info, context);
    }
}

/* The fault happens again under the default; a signal that was sent is sent again. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;
    if (!sent && (number == SIGSEGV || number == SIGBUS))
        tpsl_copy_fault(context);
    report(number, info, context);
    signal(number, SIG_DFL);
    if (sent)
        raise(number);
}

void tpsl_rank_watch_faults(void)
{
    struct sigaction before, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    tpsl_give_signal_stack();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}
