// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Clocks and timers. */
#include "posix.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>

static volatile sig_atomic_t calls, value;

static void tell(int number, siginfo_t *info, void *context)
{
    calls++;
    value = info->si_value.sival_int;
}

static const struct itimerspec soon = {.it_value = {0, 2000000}}, never, again = {{0, 2000000}, {0, 2000000}};

static void by_signal(void)
{
    struct sigaction a = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = rank + 5};
    struct itimerspec left;
    timer_t timer;
    OK(sigaction(SIGRTMIN, &a, NULL));
    OK(timer_create(CLOCK_MONOTONIC, &e, &timer));
    OK(timer_settime(timer, 0, &again, NULL));
    while (calls < 5)
        usleep(1000);
    SAY("%d", (int)value);
    OK(timer_settime(timer, 0, &never, &left));
    SAY("every %ld ns", left.it_interval.tv_nsec);
    OK(timer_gettime(timer, &left));
    SAY("%ld left, overrun known %d", left.it_value.tv_nsec, timer_getoverrun(timer) >= 0);
    OK(timer_delete(timer));
    errno = 0;
    SAY("%d %m", timer_delete(timer));
}

static atomic_int notified, same_process, wrong_value;
static pid_t process;
static _Thread_local int initialised = 3;

static void notify(union sigval v)
{
    same_process += getpid() == process && initialised == 3;
    wrong_value += v.sival_int != 77;
    notified++;
}

static void by_thread(void)
{
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify, .sigev_value.sival_int = 77};
    timer_t timers[3];
    process = getpid();
    for (int i = 0; i < 3; i++) {
        OK(timer_create(i ? CLOCK_MONOTONIC : CLOCK_REALTIME, &e, &timers[i]));
        OK(timer_settime(timers[i], 0, &soon, NULL));
    }
    while (notified < 3)
        usleep(1000);
    for (int i = 0; i < 3; i++)
        OK(timer_delete(timers[i]));
    SAY("%d %d %d", notified, same_process, wrong_value);
}

/* To the thread that made it. */
static void *timed(void *unused)
{
    sigset_t set;
    int number;
    struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 2, ._sigev_un._tid = gettid()};
    timer_t timer;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    OK(timer_create(CLOCK_MONOTONIC, &e, &timer));
    OK(timer_settime(timer, 0, &soon, NULL));
    OK(sigwait(&set, &number));
    OK(timer_delete(timer));
    return (void *)(intptr_t)(number - SIGRTMIN);
}

static void to_thread(void)
{
    pthread_t thread;
    void *result;
    OK(pthread_create(&thread, NULL, timed, NULL));
    OK(pthread_join(thread, &result));
    SAY("%ld", (long)result);
}

static void by_descriptor(void)
{
    uint64_t n = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    OK(timerfd_settime(fd, 0, &soon, NULL));
    OK(read(fd, &n, sizeof n) != sizeof n);
    SAY("%d", (int)n);
    close(fd);
}

static void sleeps(void)
{
    struct timespec before, after, until;
    OK(clock_gettime(CLOCK_MONOTONIC, &before));
    until = before;
    until.tv_sec += (until.tv_nsec += 5000000) / 1000000000;
    until.tv_nsec %= 1000000000;
    OK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    OK(clock_gettime(CLOCK_MONOTONIC, &after));
    SAY("%d", after.tv_sec > until.tv_sec || (after.tv_sec == until.tv_sec && after.tv_nsec >= until.tv_nsec));
    SAY("%d", clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, -1}, NULL));
}

static atomic_int has_clock;

static void *burn(void *unused)
{
    struct timespec now = {0};
    while (!has_clock || (now.tv_sec == 0 && now.tv_nsec < 20000000))
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return NULL;
}

/* The time of a rank's threads is counted for the rank. */
static void cpu_clocks(void)
{
    clockid_t clock, of_thread;
    struct timespec process_time, thread_time, by_id;
    struct tms t;
    struct rusage usage;
    pthread_t thread;
    OK(pthread_create(&thread, NULL, burn, NULL));
    OK(pthread_getcpuclockid(thread, &of_thread));
    has_clock = 1;
    OK(pthread_join(thread, NULL));
    OK(clock_getcpuclockid(getpid(), &clock));
    OK(clock_gettime(clock, &by_id));
    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process_time));
    OK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &thread_time));
    long all = process_time.tv_sec * 1000 + process_time.tv_nsec / 1000000, mine = thread_time.tv_sec * 1000 + thread_time.tv_nsec / 1000000;
    SAY("%d %d %d", all >= 20, all - mine >= 19, by_id.tv_sec * 1000 + by_id.tv_nsec / 1000000 >= 20);
    SAY("%d %d", times(&t) != (clock_t)-1, getrusage(RUSAGE_THREAD, &usage));
}

/* A timer of the processor time that a rank uses. */
static void cpu_timer(void)
{
    sigset_t set;
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
    timer_t timer;
    struct sigaction a = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    sigemptyset(&set);
    OK(sigaction(SIGRTMIN + 3, &a, NULL));
    OK(timer_create(CLOCK_PROCESS_CPUTIME_ID, &e, &timer));
    OK(timer_settime(timer, 0, &soon, NULL));
    while (!calls)
        ;
    OK(timer_delete(timer));
    SAY("%d", (int)calls);
}

const struct program programs[] = {
    PROGRAM(by_signal), PROGRAM(by_thread), PROGRAM(to_thread), PROGRAM(by_descriptor), PROGRAM(sleeps), PROGRAM(cpu_clocks), PROGRAM(cpu_timer),
    {NULL, NULL},
};
