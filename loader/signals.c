// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signal handlers: the process has one per signal, an instance believes it has its
 * own. So each instance's handler is kept with the instance, and one dispatcher
 * stands in the process.
 *
 * A signal that was sent goes to the handler of every instance. A fault goes to the
 * instance of the faulting thread. What the program had set before is returned as
 * the previous handler to the first instance that asks, which may chain to it, and
 * comes back when no instance handles the signal any more.
 */
#include "loader.h"

#include <signal.h>
#include <stdlib.h>

enum { SIGNALS = 65 };

struct action {
    struct sigaction action; /* first */
    struct action *older;    /* the dispatcher may still read it */
};

struct disposition {
    struct disposition *next; /* of the next instance, for the same signal */
    struct tpsl_instance *_Atomic instance;
    struct action *_Atomic action; /* NULL: default */
};

/* Lists grow at their head and never shrink, as the dispatcher walks them unlocked; an
 * element without an instance is taken by the next one. */
static struct disposition *_Atomic heads[SIGNALS];
static struct sigaction program[SIGNALS];
static bool dispatching[SIGNALS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether the instance does something about the signal, be it to ignore it. */
static bool is_set(const struct sigaction *a)
{
    return a && a->sa_handler != SIG_DFL;
}

static const struct sigaction *action_of(struct disposition *d)
{
    return (const struct sigaction *)atomic_load_explicit(&d->action, memory_order_acquire);
}

static void call(struct disposition *d, int number, siginfo_t *info, void *context)
{
    const struct sigaction *a = action_of(d);
    if (!is_set(a) || a->sa_handler == SIG_IGN)
        return;
    struct tpsl_instance *before = tpsl_become(d->instance);
    if (a->sa_flags & SA_SIGINFO)
        a->sa_sigaction(number, info, context);
    else
        a->sa_handler(number);
    tpsl_become(before);
}

static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP);
}

static void dispatch(int number, siginfo_t *info, void *context)
{
    bool handled = false;
    if (is_fault(number, info))
        tpsl_copy_fault();
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next) {
        if (is_fault(number, info) && d->instance != tpsl_current)
            continue;
        handled |= is_set(action_of(d));
        call(d, number, info, context);
    }
    if (!handled) /* the fault of a thread without handler happens again under the program's */
        sigaction(number, &program[number], NULL);
}

static struct disposition *disposition_of(struct tpsl_instance *in, int number)
{
    struct disposition *d = atomic_load(&heads[number]);
    while (d && d->instance != in)
        d = d->next;
    return d;
}

/* The flags and mask in force are those that an instance set last. */
static bool install(int number, const struct sigaction *as)
{
    struct sigaction ours = {.sa_sigaction = dispatch, .sa_flags = (as->sa_flags & ~SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK, .sa_mask = as->sa_mask};
    struct sigaction before;
    if (sigaction(number, &ours, &before) != 0)
        return false;
    if (!dispatching[number])
        program[number] = before;
    dispatching[number] = true;
    return true;
}

static bool anyone_handles(int number)
{
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next)
        if (is_set(action_of(d)))
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

/* Preconditions: lock is held. */
static int set(int number, const struct sigaction *new, struct disposition *d)
{
    struct action *copy = malloc(sizeof *copy);
    if (!copy)
        return -1;
    *copy = (struct action){*new, atomic_load(&d->action)};
    if (is_set(new) && !install(number, new)) {
        free(copy);
        return -1;
    }
    atomic_store_explicit(&d->action, copy, memory_order_release);
    if (!is_set(new))
        give_back(number);
    return 0;
}

static bool anyone_asked(int number)
{
    struct disposition *d = atomic_load(&heads[number]);
    while (d && !atomic_load(&d->instance))
        d = d->next;
    return d != NULL;
}

static struct disposition *new_disposition(struct tpsl_instance *in, int number)
{
    struct disposition *d = disposition_of(NULL, number);
    if (d) {
        atomic_store(&d->instance, in);
        return d;
    }
    if (!(d = calloc(1, sizeof *d)))
        return NULL;
    d->instance = in;
    d->next = atomic_load(&heads[number]);
    atomic_store(&heads[number], d);
    return d;
}

static int change(struct tpsl_instance *in, int number, const struct sigaction *new, struct sigaction *old)
{
    struct disposition *d = disposition_of(in, number);
    bool first = !anyone_asked(number);
    struct sigaction before = {.sa_handler = SIG_DFL};
    if (d && action_of(d))
        before = *action_of(d);
    else if (first)
        sigaction(number, NULL, &before);
    if (new && !d && !(d = new_disposition(in, number)))
        return -1;
    if (new && set(number, new, d) != 0)
        return -1;
    if (old)
        *old = before;
    return 0;
}

static int change_locked(struct tpsl_instance *in, int number, const struct sigaction *new, struct sigaction *old)
{
    if (!in || number <= 0 || number >= SIGNALS)
        return sigaction(number, new, old);
    pthread_mutex_lock(&lock);
    int rc = change(in, number, new, old);
    pthread_mutex_unlock(&lock);
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

void tpsl_signals_end_instance(struct tpsl_instance *in)
{
    pthread_mutex_lock(&lock);
    for (int number = 1; number < SIGNALS; number++) {
        struct disposition *d = disposition_of(in, number);
        if (!d)
            continue;
        struct action *a = atomic_exchange(&d->action, NULL);
        atomic_store(&d->instance, NULL);
        give_back(number);
        for (struct action *older; a; a = older) {
            older = a->older;
            free(a);
        }
    }
    pthread_mutex_unlock(&lock);
}
