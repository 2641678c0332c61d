// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* siginterrupt(3): libc notes once for all ranks of which signals handlers interrupt system calls, and signal(3) reads it. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>

#include "shim.h"

static sigset_t interrupting;

int siginterrupt(int number, int flag)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    if (flag) {
        sigaddset(&interrupting, number);
        action.sa_flags &= ~SA_RESTART;
    } else {
        sigdelset(&interrupting, number);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

sighandler_t signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = sigismember(&interrupting, number) == 1 ? 0 : SA_RESTART}, before;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

extern __typeof__(signal) bsd_signal ALSO(signal), ssignal ALSO(signal);
