// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signal handlers. The process has one handler for each signal, but each instance believes that it has
 * its own. So the loader keeps an action per instance and signal, and installs one dispatcher in the
 * process.
 *
 * A signal that was sent goes to the handler of every instance. A fault goes to the instance of the
 * faulting thread. The first instance that asks for the previous handler gets the program's, and may
 * chain to it. The dispatcher calls the program's handler when no instance can: that one is closed, or the fault
 * is of no instance that handles it. When no instance handles the signal any more, the program's handler is installed again.
 * A handler that the program installs meanwhile replaces the dispatcher, and stays.
 *
 * A handler may jump to where its thread was before (siglongjmp). An instance jumps by tpsl_longjmp, which
 * ends the thread's visit to the instance. While a thread is in the program's handler, it acts for whoever it acted
 * for before the signal, so that a jump leaves it as it was.
 *
 * The lock keeps signals out, so the dispatcher can take it. It calls handlers without it.
 */
#include "object.h"
#include "libc.h"
#include "thread.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    SIGNALS = 65,
    VISITS = 4,    /* of a thread, that are noted */
    PATIENCE = 10000, /* times 100 us */
};

typedef void handler(int, siginfo_t *, void *);

struct disposition {
    struct disposition *next;       /* of the next instance, for the same signal */
    struct tpsl_instance *instance; /* NULL if another instance may take it */
    struct sigaction action;
    handler *previous; /* the program's, which the instance was told of; NULL: none */
    atomic_int guests; /* threads that are in its handler without acting for the instance */
};

/* A thread is in the handler of an instance, or the dispatcher has called the program's. */
struct visit {
    struct disposition *host;        /* NULL: the program */
    struct tpsl_instance *acted_for; /* before */
    const char *frame;               /* that has called the handler */
    handler *previous;
    siginfo_t *info;
    void *context;
    int number;
    bool guest, on_signal_stack, in_program;
};
static __thread struct visit visits[VISITS] __attribute__((tls_model("initial-exec")));
static __thread int nvisits __attribute__((tls_model("initial-exec"))); /* one within the other; more may be than are noted */

/* Lists grow at their head and never shrink, as the dispatcher walks them without the lock. The lock
 * guards everything else here. */
static struct disposition *_Atomic heads[SIGNALS];
static struct sigaction program[SIGNALS];
static bool dispatching[SIGNALS];
static atomic_int lock;

static const struct sigaction by_default = {.sa_handler = SIG_DFL};

static void dispatch(int number, siginfo_t *info, void *context);
static handler call_program;

/* A child of fork has one thread. Another one may have had the lock. */
static void be_alone(void)
{
    atomic_store(&lock, 0);
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(NULL, NULL, be_alone);
}

static bool is_dispatched(const struct sigaction *a)
{
    return a->sa_sigaction == dispatch;
}

/* Whether the instance handles or ignores the signal. */
static bool is_set(const struct sigaction *a)
{
    return a->sa_handler != SIG_DFL;
}

static bool is_function(const struct sigaction *a)
{
    return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

static bool is_program(const struct sigaction *a)
{
    return a->sa_sigaction == call_program;
}

static bool anyone_handles(int number)
{
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next)
        if (is_set(&d->action) && !is_program(&d->action))
            return true;
    return false;
}

/* Gives the signal back to the program when no instance handles it. */
static void give_back(int number)
{
    struct sigaction now;
    if (!dispatching[number] || anyone_handles(number))
        return;
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next)
        d->action = by_default;
    if (sigaction(number, NULL, &now) == 0 && is_dispatched(&now))
        sigaction(number, &program[number], NULL);
    dispatching[number] = false;
}

/* What the dispatcher finds for an instance. */
struct found {
    struct sigaction action;
    struct tpsl_instance *instance;
    handler *previous;
    bool guest; /* the thread does not act for this instance */
};

/* Looks for a handler that the signal is for, as the kernel would (SA_RESETHAND). While a guest is in it, the instance stays. */
static struct found look(struct disposition *d, int number, bool fault)
{
    sigset_t before;
    tpsl_lock(&lock, &before);
    struct found f = {d->action, d->instance, d->previous, d->instance != tpsl_current};
    if (fault && f.guest)
        f.action = by_default;
    if (is_function(&f.action)) {
        if (f.action.sa_flags & (int)SA_RESETHAND) {
            d->action = by_default;
            give_back(number);
        }
        d->guests += f.guest;
    }
    tpsl_unlock(&lock, &before);
    return f;
}

static bool on_signal_stack(const char *address)
{
    stack_t s;
    return sigaltstack(NULL, &s) == 0 && !(s.ss_flags & SS_DISABLE) && (size_t)(address - (char *)s.ss_sp) < s.ss_size;
}

/* Takes the program's handler, as the kernel would. */
static struct sigaction take_program(int number)
{
    sigset_t before;
    tpsl_lock(&lock, &before);
    struct sigaction a = program[number];
    if (is_function(&a) && a.sa_flags & (int)SA_RESETHAND)
        program[number] = by_default;
    tpsl_unlock(&lock, &before);
    return a;
}

static void leave(struct visit *const *v)
{
    if ((*v)->host) {
        tpsl_become((*v)->acted_for);
        (*v)->host->guests -= (*v)->guest;
    }
    nvisits--;
}

/* Ends visits whose frames are no longer on the stack, which grows down to `stack`. */
static void leave_abandoned(const char *stack)
{
    bool here = nvisits > 0 && on_signal_stack(stack);
    while (nvisits > 0) {
        struct visit *v = &visits[(nvisits < VISITS ? nvisits : VISITS) - 1];
        if (here == v->on_signal_stack ? stack < v->frame : here)
            return;
        if (v->in_program || tpsl_current != v->host->instance)
            v->acted_for = tpsl_current; /* the thread has gone on as it was, or as another */
        nvisits = (int)(v - visits) + 1;
        leave(&v);
    }
}

/* longjmp and its like, for instances. */
_Noreturn void tpsl_longjmp(jmp_buf to, int value)
{
    enum { RSP = 6, ROTATED = 17 }; /* glibc: sysdeps/x86_64/jmpbuf-offsets.h, and PTR_MANGLE in pointer_guard.h */
    uintptr_t stack = (uintptr_t)to[0].__jmpbuf[RSP], guard;
    __asm__("movq %%fs:0x30, %0" : "=r"(guard));
    leave_abandoned((const char *)((stack >> ROTATED | stack << (64 - ROTATED)) ^ guard));
    siglongjmp(to, value);
}

/* What an instance is told in place of the program's handler. */
static void call_program(int number, siginfo_t *info, void *context)
{
    struct visit *v = nvisits > 0 && nvisits <= VISITS ? &visits[nvisits - 1] : NULL;
    if (!v || !v->previous) { /* an instance calls it of its own accord */
        if (is_function(&program[number]))
            program[number].sa_sigaction(number, info, context);
        return;
    }
    struct tpsl_instance *in = tpsl_become(v->acted_for);
    v->in_program = true;
    v->previous(number, v->info, v->context);
    v->in_program = false;
    tpsl_become(in);
}

/* Calls a handler as the kernel would, with the action's mask added to that of the thread (sigaction(2)). */
static void call(const struct sigaction *a, int number, siginfo_t *info, void *context)
{
    sigset_t before, during;
    sigorset(&during, &((ucontext_t *)context)->uc_sigmask, &a->sa_mask);
    if (!(a->sa_flags & SA_NODEFER))
        sigaddset(&during, number);
    pthread_sigmask(SIG_SETMASK, &during, &before);
    a->sa_sigaction(number, info, context); /* the kernel, too, passes all three whatever SA_SIGINFO says */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Calls the handler of an instance, or of the program if d is NULL. */
static __attribute__((noinline)) void visit(struct disposition *d, const struct found *f, int number, siginfo_t *info, void *context)
{
    struct visit not_noted, *at = nvisits < VISITS ? &visits[nvisits] : &not_noted;
    *at = (struct visit){.host = d, .frame = __builtin_frame_address(0), .previous = f->previous, .info = info, .context = context, .number = number, .guest = f->guest, .in_program = !d};
    at->on_signal_stack = on_signal_stack(at->frame);
    at->acted_for = tpsl_become(f->instance);
    nvisits++;
    __attribute__((cleanup(leave))) struct visit *const left = at; /* by an exception, too, and by the end of the thread */
    call(&f->action, number, info, context);
    (void)left;
}

static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP);
}

static bool is_in_program(int number)
{
    for (int i = 0; i < nvisits && i < VISITS; i++)
        if (visits[i].in_program && visits[i].number == number)
            return true;
    return false;
}

/* The program may have set its handler while the dispatcher was installed, so that the handler calls the dispatcher as the one
 * before it. If the dispatcher has called that handler, the instances have heard of the signal, and nobody is left to call. The kernel
 * calls with the context right above the return address. */
static void dispatch(int number, siginfo_t *info, void *context)
{
    bool handled = false, told = false, fault = is_fault(number, info), chained = context != __builtin_dwarf_cfa();
    if (fault)
        tpsl_copy_fault(context);
    leave_abandoned(__builtin_frame_address(0));
    if (chained && is_in_program(number)) {
        if (fault) /* it happens again, and ends the process */
            sigaction(number, &by_default, NULL);
        return;
    }
    for (struct disposition *d = atomic_load(&heads[number]); d; d = d->next) {
        struct found f = look(d, number, fault);
        if (!is_set(&f.action))
            continue;
        handled = true;
        told = told || f.previous;
        if (f.action.sa_handler != SIG_IGN)
            visit(d, &f, number, info, context);
    }
    if (fault ? handled : told)
        return;
    struct found programs = {.action = take_program(number), .instance = tpsl_current};
    if (is_function(&programs.action))
        visit(NULL, &programs, number, info, context);
    else if (fault) /* it happens again, and ends the process */
        sigaction(number, &programs.action, NULL);
    else if (!handled) /* the last instance that handled it has just ceased to: it comes again, for what is installed now */
        syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info);
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
    if (!is_dispatched(&before))
        program[number] = before;
    dispatching[number] = true;
    return true;
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
    struct sigaction before = d ? d->action : by_default, now;
    handler *previous = d ? d->previous : NULL;
    if (sigaction(number, NULL, &now) != 0)
        return -1;
    if (!is_dispatched(&now) && (!d || dispatching[number])) { /* of the program, and this instance does not know it */
        before = now;
        previous = is_function(&now) ? now.sa_sigaction : NULL;
        if (previous)
            before.sa_sigaction = call_program;
    }
    if (new && !d && !(d = new_disposition(in, number)))
        return -1;
    if (new && is_set(new) && !install(number, new))
        return -1;
    if (new) {
        d->action = *new;
        d->previous = previous;
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

static bool is_free(struct disposition *d)
{
    for (int i = 0; atomic_load(&d->guests) && i < PATIENCE; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return !atomic_load(&d->guests);
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
    if (d && !is_free(d)) {
        in->stays = true; /* they run its code, or have jumped out of it, which nobody has seen */
        return;
    }
    tpsl_lock(&lock, &before);
    if (d)
        d->instance = NULL;
    tpsl_unlock(&lock, &before);
}

void tpsl_signals_end_instance(struct tpsl_instance *in)
{
    leave_abandoned(__builtin_frame_address(0));
    for (int number = 1; number < SIGNALS; number++)
        end_disposition(in, number);
}
