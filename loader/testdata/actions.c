// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Handlers of an instance, with flags and masks of all kinds. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static volatile int calls, usr2_blocked, itself_blocked;

static void look(int number)
{
    sigset_t now;
    calls++;
    sigprocmask(SIG_SETMASK, NULL, &now);
    itself_blocked = sigismember(&now, number);
    usr2_blocked = sigismember(&now, SIGUSR2);
}

static int set(int number, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGUSR2);
    return sigaction(number, &a, NULL);
}

static int is_default(int number)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler == SIG_DFL;
}

void stop(void) { signal(SIGUSR1, SIG_DFL); }
int times_called(void) { return calls; }
int was_blocked(void) { return itself_blocked * 10 + usr2_blocked; }
int listen_once(void) { return set(SIGUSR1, look, (int)SA_RESETHAND); }
int listen_plainly(void) { return set(SIGUSR1, look, 0); }
int listen_again(void) { return set(SIGUSR1, look, SA_NODEFER); }
int is_reset(void) { return is_default(SIGUSR1); }

/* How many of three copies from nowhere give EFAULT, while the instance has a handler of SIGSEGV. */
int bad_copies(void)
{
    char to[8], from[8] = "";
    struct iovec local = {to, 8}, good = {from, 8}, bad = {(void *)0x100000, 8};
    int faults = 0;
    sigset_t before, after;
    process_vm_readv(getpid(), &local, 1, &good, 1, 0); /* the first one is the kernel's */
    set(SIGSEGV, look, 0);
    sigprocmask(SIG_SETMASK, NULL, &before);
    for (int i = 0; i < 3; i++)
        faults += process_vm_readv(getpid(), &local, 1, &bad, 1, 0) == -1 && errno == EFAULT;
    sigprocmask(SIG_SETMASK, NULL, &after);
    signal(SIGSEGV, SIG_DFL);
    for (int i = 1; i < 65; i++)
        if (sigismember(&before, i) != sigismember(&after, i))
            return -i;
    return calls == 0 ? faults : -100;
}

/* A handler that stays until it is told to go on; then it goes through code and data of the instance. */
static volatile int *stage; /* 1: inside, 2: go on, 3: done */
static void stay(int number)
{
    *stage = 1;
    while (*stage == 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    look(number);
    *stage = 3;
}

int listen_long(volatile int *where)
{
    stage = where;
    return set(SIGUSR1, stay, 0);
}

/* A handler that jumps to where its thread was before the signal. */
static sigjmp_buf back;
static void jump(int number)
{
    look(number);
    siglongjmp(back, 1);
}

int jumps(void)
{
    set(SIGUSR1, jump, 0);
    if (sigsetjmp(back, 1) == 0)
        raise(SIGUSR1);
    return calls;
}

/* A fault that the instance's handler jumps out of. */
void listen_faults(void) { set(SIGSEGV, jump, 0); }
int faults(void)
{
    volatile int *volatile nowhere = NULL;
    if (sigsetjmp(back, 1) == 0)
        *nowhere = 1;
    return calls;
}
