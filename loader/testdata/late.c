// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A thread of the program comes to an instance for the first time when destructors of keys run at its end: part of the process
 * (-DPROGRAM), and functions of an instance that lead there. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

int run_late(void);

#ifdef PROGRAM
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

int run_late(void)
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
int late(void) { return run_late(); }

static volatile int calls;
static void hear(int number)
{
    (void)number;
    calls++;
}
int listen(void) { return signal(SIGUSR1, hear) == SIG_ERR; }
int times_called(void) { return calls; }
#endif
