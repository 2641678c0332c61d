// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The host lives as long as its ranks, which are in sessions of their own: signals that are
 * sent to it are meant for them. */
#include "host.h"

#include <errno.h>

static _Atomic uint64_t forwarded; /* a bit for each signal that came */

/* For ranks that run: one that is not started yet gets its signals when it is. */
void tpsl_forward_to(struct tpsl_rank_process *r)
{
    pid_t pid = *r->pid; /* which is 0 as soon as it has ended */
    if (!pid)
        return;
    uint64_t numbers = atomic_exchange(&r->to_pass_on, 0);
    for (int number = 1; numbers >> number; number++)
        if (numbers >> number & 1)
            kill(pid, number);
}

static void forward(int number)
{
    int before = errno;
    atomic_fetch_or(&forwarded, (uint64_t)1 << number);
    for (int i = 0; i < tpsl_host.nranks; i++) {
        atomic_fetch_or(&tpsl_host.ranks[i].to_pass_on, (uint64_t)1 << number);
        tpsl_forward_to(&tpsl_host.ranks[i]);
    }
    errno = before;
}

void tpsl_forward_signals(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGCONT, SIGWINCH};
    struct sigaction action = {.sa_handler = forward, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sigaction(all[i], &action, NULL);
}

bool tpsl_was_forwarded(int signal)
{
    return atomic_load(&forwarded) >> signal & 1;
}
