// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signals of the program. The Go runtime takes some as the library is loaded. It passes on what happens in C, but a fault in Go,
 * at a wild address that the program has given, would end in a trace of Go and exit code 2, past the program's handler and without
 * a core. They are put back once the runtime is up, as its code here does not count on recovering from faults.
 */
#include <signal.h>
#include <stddef.h>

static const int taken[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE};
enum { TAKEN = sizeof taken / sizeof *taken };

static struct sigaction before[TAKEN];

/* The runtime starts in a constructor without priority, so this one comes before it. */
__attribute__((constructor(101))) static void remember(void)
{
    for (int i = 0; i < TAKEN; i++)
        sigaction(taken[i], NULL, &before[i]);
}

static void nothing(int number)
{
    (void)number;
}

void _cgo_wait_runtime_init_done(void);

/* This one comes after it, as it is behind Go's object. A handler needs its own stack: a thread in Go has a small one.
 * A connection that breaks raises SIGPIPE. A handler that does nothing is not inherited by programs that are executed, as
 * SIG_IGN would be.
 */
__attribute__((constructor)) static void put_back(void)
{
    _cgo_wait_runtime_init_done();
    for (int i = 0; i < TAKEN; i++) {
        struct sigaction a = before[i];
        if (taken[i] == SIGPIPE && a.sa_handler == SIG_DFL) {
            a.sa_handler = nothing;
            a.sa_flags = SA_RESTART;
        }
        a.sa_flags |= SA_ONSTACK;
        sigaction(taken[i], &a, NULL);
    }
}
