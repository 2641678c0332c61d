// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A handler of the program that calls the one before it: part of the process (-DPROGRAM), and functions of an instance that lead there. */
#define _GNU_SOURCE
#include <signal.h>

int program_resets(void), program_listens(int again), program_stops(void), program_heard(void);

#ifdef PROGRAM
enum { ENDLESS = 10 };
static struct sigaction first, before;
static volatile int heard, raises;

static void hear(int number, siginfo_t *info, void *context)
{
    if (raises && raises--)
        raise(number);
    if (++heard < ENDLESS)
        before.sa_sigaction(number, info, context);
}

static int set(struct sigaction a, struct sigaction *old)
{
    heard = 0;
    sigemptyset(&a.sa_mask);
    return sigaction(SIGUSR1, &a, old);
}

int program_resets(void) { return set((struct sigaction){.sa_handler = SIG_DFL}, &first); }
int program_listens(int again)
{
    raises = again;
    return set((struct sigaction){.sa_sigaction = hear, .sa_flags = SA_SIGINFO | SA_NODEFER}, &before);
}
int program_stops(void) { return sigaction(SIGUSR1, &first, NULL); }
int program_heard(void) { return heard; }
#else
int resets(void) { return program_resets(); }
int listens(int again) { return program_listens(again); }
int stops(void) { return program_stops(); }
int times_program_heard(void) { return program_heard(); }

static volatile int calls;
static void hear(int number)
{
    (void)number;
    calls++;
}
int listen(void) { return signal(SIGUSR1, hear) == SIG_ERR; }
int times_called(void) { return calls; }
#endif
