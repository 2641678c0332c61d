// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Signals. */
#include "posix.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t calls, last, masks;
static siginfo_t told;

static void count(int number)
{
    calls++;
    last = number;
}

static void tell(int number, siginfo_t *info, void *context)
{
    calls++;
    told = *info;
}

static void install(int number, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGUSR2);
    OK(sigaction(number, &a, NULL));
}

/* What a program finds when it starts, and what it may not change. */
static void at_start(void)
{
    sigset_t mask;
    struct sigaction a;
    OK(sigprocmask(SIG_SETMASK, NULL, &mask));
    for (int i = 1; i <= 64; i++) {
        int rc = sigaction(i, NULL, &a);
        const char *what = rc != 0 ? "unknown" : a.sa_handler == SIG_DFL ? NULL : a.sa_handler == SIG_IGN ? "ignored" : "handled";
        if (i == SIGSEGV || i == SIGBUS || i == SIGFPE || i == SIGILL || i == SIGABRT)
            continue; /* a rank has a handler there, docs/private-mode.md */
        if (what || sigismember(&mask, i) == 1)
            SAY("%d: %s, blocked %d", i, what, sigismember(&mask, i));
    }
    errno = 0;
    SAY("%d %m", sigaction(SIGKILL, &(struct sigaction){.sa_handler = count}, NULL));
    SAY("%d %d", SIGRTMIN, SIGRTMAX);
}

static void once_and_again(void)
{
    struct sigaction now;
    install(SIGUSR1, count, (int)SA_RESETHAND);
    raise(SIGUSR1);
    OK(sigaction(SIGUSR1, NULL, &now));
    SAY("%d, then default %d", (int)calls, now.sa_handler == SIG_DFL);
    install(SIGUSR1, count, 0);
    for (int i = 0; i < 3; i++)
        OK(kill(getpid(), SIGUSR1));
    SAY("%d", (int)calls);
}

static void look_at_mask(int number)
{
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    masks = sigismember(&now, SIGUSR1) * 10 + sigismember(&now, SIGUSR2);
}

static void handler_masks(void)
{
    install(SIGUSR1, look_at_mask, 0);
    raise(SIGUSR1);
    SAY("%d", (int)masks);
    install(SIGUSR1, look_at_mask, SA_NODEFER);
    raise(SIGUSR1);
    SAY("%d", (int)masks);
}

static sigjmp_buf out;
static volatile int *volatile nowhere;
static void jump(int number) { siglongjmp(out, number); }

/* Faults again and again. */
static void faults(void)
{
    install(SIGSEGV, jump, 0);
    install(SIGFPE, jump, 0);
    for (int i = 0; i < 3; i++) {
        int number = sigsetjmp(out, 1);
        if (number == 0)
            *nowhere = 1;
        volatile int zero = 0;
        int again = sigsetjmp(out, 1);
        if (again == 0)
            zero = 100 / zero;
        SAY("%d %d", number, again);
    }
}

static char *page;
static void unprotect(int number, siginfo_t *info, void *context)
{
    calls++;
    if (info->si_addr == page + 100)
        mprotect(page, 4096, PROT_READ | PROT_WRITE);
    else
        _exit(3);
}

/* As garbage collectors and checkpointers do. */
static void protected_pages(void)
{
    struct sigaction a = {.sa_sigaction = unprotect, .sa_flags = SA_SIGINFO};
    OK(sigaction(SIGSEGV, &a, NULL));
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 5; i++) {
        OK(mprotect(page, 4096, PROT_READ));
        page[100] = (char)i;
        SAY("%d, %d", page[100], (int)calls);
    }
}

static char alternate[64 << 10];
static volatile int on_alternate;
static void overflowed(int number)
{
    char here;
    on_alternate = &here > alternate && &here < alternate + sizeof alternate;
    siglongjmp(out, 1);
}
static int deeper(int n)
{
    volatile char frame[10000];
    frame[0] = (char)n;
    return n == 0 ? 0 : deeper(n + 1) + frame[0];
}

static void *overflow(void *unused)
{
    stack_t mine = {.ss_sp = alternate, .ss_size = sizeof alternate}, before;
    OK(sigaltstack(&mine, &before));
    if (sigsetjmp(out, 1) == 0)
        deeper(1);
    SAY("on the alternate stack %d", on_alternate);
    OK(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL));
    return NULL;
}

static void stack_overflow(void)
{
    pthread_t thread;
    install(SIGSEGV, overflowed, SA_ONSTACK);
    overflow(NULL);
    on_alternate = 0;
    OK(pthread_create(&thread, NULL, overflow, NULL));
    OK(pthread_join(thread, NULL));
}

static void queued(void)
{
    struct sigaction a = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    sigset_t set, before;
    OK(sigaction(SIGRTMIN + 1, &a, NULL));
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    OK(pthread_sigmask(SIG_BLOCK, &set, &before));
    for (int i = 0; i < 3; i++)
        OK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i + rank * 10}));
    sigset_t pending;
    OK(sigpending(&pending));
    SAY("pending %d, called %d", sigismember(&pending, SIGRTMIN + 1), (int)calls);
    OK(pthread_sigmask(SIG_SETMASK, &before, NULL));
    SAY("called %d, last %d, from itself %d, code %d", (int)calls, told.si_value.sival_int, told.si_pid == getpid(), told.si_code == SI_QUEUE);
}

static atomic_int ready, interrupted;
static void *wait_for_signal(void *unused)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    ready = 1;
    for (int i = 0; i < 2; i++) {
        OK(sigwait(&set, &number));
        SAY("%d", number);
    }
    return NULL;
}

static void waited_for(void)
{
    sigset_t set;
    pthread_t thread;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
    OK(pthread_create(&thread, NULL, wait_for_signal, NULL));
    while (!ready)
        ;
    OK(pthread_kill(thread, SIGUSR1));
    OK(pthread_sigqueue(thread, SIGUSR2, (union sigval){0}));
    OK(pthread_join(thread, NULL));
    OK(kill(getpid(), SIGUSR2));
    int number = sigwaitinfo(&set, &info);
    SAY("%d, code %d", number, info.si_code == SI_USER);
    SAY("%d %m", sigtimedwait(&set, &info, &(struct timespec){0, 1000000}));
}

static void suspended(void)
{
    sigset_t none, set;
    install(SIGUSR1, count, 0);
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    OK(raise(SIGUSR1));
    int before = calls, rc = sigsuspend(&none);
    SAY("%d %d %d %s", before, (int)calls, rc, strerror(errno));
}

/* Only the thread that it is for handles it. */
static _Thread_local int mine;
static void note(int number) { mine++; }
static atomic_int go;
static void *stay(void *unused)
{
    ready++;
    while (!go)
        usleep(1000);
    return (void *)(long)mine;
}

static void to_a_thread(void)
{
    pthread_t threads[3];
    void *result;
    install(SIGUSR1, note, SA_RESTART);
    for (int i = 0; i < 3; i++)
        OK(pthread_create(&threads[i], NULL, stay, NULL));
    while (ready < 3)
        usleep(1000);
    OK(pthread_kill(threads[1], SIGUSR1));
    OK(pthread_kill(threads[1], 0));
    go = 1;
    for (int i = 0; i < 3; i++) {
        OK(pthread_join(threads[i], &result));
        SAY("%ld", (long)result);
    }
    SAY("%d", mine);
}

/* A read goes on after a handler with SA_RESTART, and fails after one without. */
static int ends[2];
static pthread_t first;
static void *disturb(void *unused)
{
    while (!ready)
        usleep(1000);
    if (!go) { /* a signal that comes before the call interrupts nothing */
        for (; !interrupted; usleep(1000))
            pthread_kill(first, SIGUSR1);
        return NULL;
    }
    for (int before = calls; calls == before; usleep(1000))
        pthread_kill(first, SIGUSR1);
    (void)!write(ends[1], "x", 1);
    return NULL;
}

static void interrupted_calls(void)
{
    first = pthread_self();
    OK(pipe(ends));
    for (go = 0; go < 2; go++) {
        pthread_t thread;
        char c;
        install(SIGUSR1, count, go ? SA_RESTART : 0);
        ready = 0;
        OK(pthread_create(&thread, NULL, disturb, NULL));
        ready = 1;
        errno = 0;
        ssize_t n = read(ends[0], &c, 1);
        SAY("%zd %s", n, strerror(errno));
        interrupted = 1;
        OK(pthread_join(thread, NULL));
    }
}

static void by_descriptor(void)
{
    sigset_t set;
    struct signalfd_siginfo info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    SAY("%zd %m", read(fd, &info, sizeof info));
    OK(raise(SIGUSR1));
    SAY("%d", read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGUSR1);
    close(fd);
}

/* Each rank is asked by the number of its own process only. */
static void alarms(void)
{
    struct itimerval soon = {.it_value = {.tv_usec = 10000 * (rank + 1)}}, now;
    install(SIGALRM, count, 0);
    install(SIGVTALRM, count, 0);
    SAY("%u", alarm(100));
    SAY("%u", alarm(0) > 0);
    OK(setitimer(ITIMER_REAL, &soon, NULL));
    while (calls < 1)
        usleep(1000);
    OK(getitimer(ITIMER_REAL, &now));
    SAY("%d %d, left %ld", (int)calls, (int)last, (long)now.it_value.tv_usec);
    OK(setitimer(ITIMER_VIRTUAL, &soon, NULL));
    while (calls < 2)
        ;
    SAY("%d %d", (int)calls, (int)last);
}

static void ignored_children(void)
{
    fflush(stdout);
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    errno = 0;
    int rc = waitpid(child, NULL, 0);
    SAY("%d %s", rc, strerror(errno));
    install(SIGCHLD, count, SA_NOCLDWAIT);
    child = fork();
    if (child == 0)
        _exit(3);
    rc = waitpid(child, NULL, 0);
    SAY("%d %s, called %d", rc, strerror(errno), (int)calls);
}

static void told_of_children(void)
{
    struct sigaction a = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    OK(sigaction(SIGCHLD, &a, NULL));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(7);
    while (!calls)
        usleep(1000);
    SAY("%d %d %d", told.si_pid == child, told.si_code == CLD_EXITED, told.si_status);
    OK(waitpid(child, NULL, 0) != child);
}

static void psignals(void)
{
    psignal(SIGUSR1, "psignal");
    SAY("%s, %s", strsignal(SIGUSR2), sigabbrev_np(SIGTERM));
}

/* The end by a signal is the rank's. */
static void die(void)
{
    SAY("not flushed");
    if (rank == 2)
        raise(SIGTERM);
    pause();
}

/* What siginterrupt asks for holds for the signals of the rank that asked. */
static void interrupts(void)
{
    struct sigaction now;
    if (rank % 2)
        OK(siginterrupt(SIGUSR1, 1));
    step();
    OK(signal(SIGUSR1, count) == SIG_ERR);
    OK(sigaction(SIGUSR1, NULL, &now));
    SAY("%d %d", (now.sa_flags & SA_RESTART) != 0, sigismember(&now.sa_mask, SIGUSR1));
    step();
    OK(siginterrupt(SIGUSR1, rank == 0));
    OK(sigaction(SIGUSR1, NULL, &now));
    step();
    SAY("%d %d", (now.sa_flags & SA_RESTART) != 0, now.sa_handler == count);
    OK(signal(SIGUSR1, SIG_IGN) != count);
    OK(sigaction(SIGUSR1, NULL, &now));
    SAY("%d", (now.sa_flags & SA_RESTART) != 0);
    int refused = signal(SIGKILL, count) == SIG_ERR;
    SAY("%d %m", refused);
    refused = signal(SIGUSR1, SIG_ERR) == SIG_ERR;
    SAY("%d %m", refused);
    refused = siginterrupt(1000, 1);
    SAY("%d %m", refused);
}

static void die_of_alarm(void)
{
    if (rank == 1)
        alarm(1);
    pause();
}

const struct program programs[] = {
    PROGRAM(at_start), PROGRAM(once_and_again), PROGRAM(handler_masks), PROGRAM(faults), PROGRAM(protected_pages), PROGRAM(stack_overflow),
    PROGRAM(queued), PROGRAM(waited_for), PROGRAM(suspended), PROGRAM(to_a_thread), PROGRAM(interrupted_calls), PROGRAM(interrupts), PROGRAM(by_descriptor),
    PROGRAM(alarms), PROGRAM(ignored_children), PROGRAM(told_of_children), PROGRAM(psignals), PROGRAM(die), PROGRAM(die_of_alarm), {NULL, NULL},
};
