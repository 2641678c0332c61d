// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signal handlers. The process has one handler for each signal, but each instance believes that it has
 * its own. So the loader keeps an action per instance and signal, and installs one dispatcher in the
 * process.
 *
 * A signal that was sent goes to the handler of every instance. A fault goes to the instance of the
 * faulting thread. The first instance that asks for the previous handler gets the program's, and may
 * chain to it. When no instance handles the signal any more, the program's handler is installed again.
 *
 * The lock keeps signals out, so the dispatcher can take it. It calls handlers without it.
 */
#include "object.h"
#include "libc.h"
#include "thread.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

enum { SIGNALS = 65 };

struct disposition {
    struct disposition *next;       /* of the next instance, for the same signal */
    struct tpsl_instance *instance; /* NULL if another instance may take it */
    struct sigaction action;
    atomic_int guests; /* threads that are in its handler without acting for the instance */
};

/* Lists grow at their head and never shrink, as the dispatcher walks them without the lock. The lock
 * guards everything else here. */
static struct disposition *_Atomic heads[SIGNALS];
static struct sigaction program[SIGNALS];
static bool dispatching[SIGNALS];
static atomic_int lock;

static const struct sigaction by_default = {.sa_handler = SIG_DFL};

/* Whether the instance handles or ignores the signal. */
static bool is_set(const struct sigaction *a)
{
    return a->sa_handler != SIG_DFL;
}

static bool anyone_handles(int number)
{
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next)
        if (is_set(&d->action))
            return true;
    return false;
}

/* Gives the signal back to the program when no instance handles it. */
static void give_back(int number)
{
    if (!dispatching[number] || anyone_handles(number))
        return;
    sigaction(number, &program[number], NULL);
    dispatching[number] = false;
}

/* What the dispatcher finds for an instance. */
struct found {
    struct sigaction action;
    struct tpsl_instance *instance;
    bool guest; /* the thread does not act for this instance */
};

/* Looks for a handler that the signal is for, as the kernel would (SA_RESETHAND). While a guest is in it, the instance stays. */
static struct found look(struct disposition *d, int number, bool fault)
{
    sigset_t before;
    tpsl_lock(&lock, &before);
    struct found f = {d->action, d->instance, d->instance != tpsl_current};
    if (fault && f.guest)
        f.action = by_default;
    if (is_set(&f.action) && f.action.sa_handler != SIG_IGN) {
        if (f.action.sa_flags & (int)SA_RESETHAND) {
            d->action = by_default;
            give_back(number);
        }
        d->guests += f.guest;
    }
    tpsl_unlock(&lock, &before);
    return f;
}

/* Calls the handler as the kernel would, with the action's mask added to that of the thread (sigaction(2)). */
static void call(struct disposition *d, const struct found *f, int number, siginfo_t *info, void *context)
{
    sigset_t before, during;
    sigorset(&during, &((ucontext_t *)context)->uc_sigmask, &f->action.sa_mask);
    if (!(f->action.sa_flags & SA_NODEFER))
        sigaddset(&during, number);
    pthread_sigmask(SIG_SETMASK, &during, &before);
    struct tpsl_instance *acted_for = tpsl_become(f->instance);
    f->action.sa_sigaction(number, info, context); /* the kernel, too, passes all three whatever SA_SIGINFO says */
    tpsl_become(acted_for);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    d->guests -= f->guest;
}

static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP);
}

static void dispatch(int number, siginfo_t *info, void *context)
{
    bool handled = false, fault = is_fault(number, info);
    if (fault)
        tpsl_copy_fault(context);
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next) {
        struct found f = look(d, number, fault);
        if (!is_set(&f.action))
            continue;
        handled = true;
        if (f.action.sa_handler != SIG_IGN)
            call(d, &f, number, info, context);
    }
    if (!handled) /* the fault of a thread without a handler then happens again, under the program's handler */
        sigaction(number, &program[number], NULL);
}

static struct disposition *disposition_of(struct tpsl_instance *in, int number)
{
    struct disposition *d = atomic_load(&heads[number]);
    while (d && d->instance != in)
        d = d->next;
    return d;
}

/* The dispatcher itself is not interrupted: it sets the mask of each handler when it calls it. The
 * flags that concern the kernel only are those that an instance set last. */
static bool install(int number, const struct sigaction *as)
{
    const int kernels = SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT;
    struct sigaction ours = {.sa_sigaction = dispatch, .sa_flags = (as->sa_flags & kernels) | SA_SIGINFO | SA_ONSTACK};
    struct sigaction before;
    sigfillset(&ours.sa_mask);
    if (sigaction(number, &ours, &before) != 0)
        return false;
    if (!dispatching[number])
        program[number] = before;
    dispatching[number] = true;
    return true;
}

static bool anyone_asked(int number)
{
    struct disposition *d = atomic_load(&heads[number]);
    while (d && !d->instance)
        d = d->next;
    return d != NULL;
}

static struct disposition *new_disposition(struct tpsl_instance *in, int number)
{
    struct disposition *d = disposition_of(NULL, number);
    if (!d) {
        if (!(d = calloc(1, sizeof *d)))
            return NULL;
        d->next = atomic_load(&heads[number]);
        atomic_store(&heads[number], d);
    }
    d->instance = in;
    return d;
}

static int change(struct tpsl_instance *in, int number, const struct sigaction *new, struct sigaction *old)
{
    struct disposition *d = disposition_of(in, number);
    bool first = !anyone_asked(number);
    struct sigaction before = d ? d->action : by_default;
    if (first)
        sigaction(number, NULL, &before);
    if (new && !d && !(d = new_disposition(in, number)))
        return -1;
    if (new && is_set(new) && !install(number, new))
        return -1;
    if (new) {
        d->action = *new;
        give_back(number);
    }
    if (old)
        *old = before;
    return 0;
}

static int change_locked(struct tpsl_instance *in, int number, const struct sigaction *new, struct sigaction *old)
{
    sigset_t before;
    if (!in || number <= 0 || number >= SIGNALS)
        return sigaction(number, new, old);
    tpsl_lock(&lock, &before);
    int rc = change(in, number, new, old);
    tpsl_unlock(&lock, &before);
    return rc;
}

int tpsl_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    return change_locked(tpsl_asking(__builtin_return_address(0)), number, new, old);
}

tpsl_handler *tpsl_signal(int number, tpsl_handler *handler)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    sigemptyset(&new.sa_mask);
    return change_locked(tpsl_asking(__builtin_return_address(0)), number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static void end_disposition(struct tpsl_instance *in, int number)
{
    sigset_t before;
    tpsl_lock(&lock, &before);
    struct disposition *d = disposition_of(in, number);
    if (d) {
        d->action = by_default;
        give_back(number);
    }
    tpsl_unlock(&lock, &before);
    if (!d)
        return;
    while (atomic_load(&d->guests)) /* the code that they run will be unmapped */
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    tpsl_lock(&lock, &before);
    d->instance = NULL;
    tpsl_unlock(&lock, &before);
}

void tpsl_signals_end_instance(struct tpsl_instance *in)
{
    for (int number = 1; number < SIGNALS; number++)
        end_disposition(in, number);
}
