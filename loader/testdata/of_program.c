// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signals that lead from the program to instances: a handler of the program that calls the one before it, and a thread of the program
 * that comes to an instance for the first time as destructors of keys run at its end. Part of the process (-DPROGRAM), and functions of
 * an instance that lead there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

int program_runs_thread(void), program_resets(void), program_listens(int again), program_stops(void), program_heard(void);

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

enum { STACK = 64 << 20 }; /* more than libc keeps for the next thread: its memory is gone when the thread has ended */
static pthread_key_t key;

static void at_end(void *value)
{
    (void)value;
    raise(SIGUSR1);
}

static void *set_value(void *unused)
{
    pthread_setspecific(key, &key);
    return unused;
}

int program_runs_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_key_create(&key, at_end);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    int error = pthread_create(&thread, &attributes, set_value, NULL);
    if (!error)
        pthread_join(thread, NULL);
    pthread_key_delete(key);
    return error;
}
#else
int resets(void) { return program_resets(); }
int runs_thread(void) { return program_runs_thread(); }
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
