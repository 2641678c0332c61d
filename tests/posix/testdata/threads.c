// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Threads and what they wait for. */
#include "posix.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>

enum { KIB = 1024 };

static void *nothing(void *argument) { return argument; }

/* Fills a stack as deep as a flat thread of that size can be filled. */
static void *fill(void *bytes)
{
    size_t n = (size_t)bytes;
    volatile char frame[n];
    for (size_t i = 0; i < n; i += 512)
        frame[i] = (char)i;
    return (void *)(size_t)(frame[0] == 0);
}

static void small_stacks(void)
{
    for (size_t k = 16; k <= 256; k += 16) {
        pthread_attr_t a;
        pthread_t thread;
        void *result;
        size_t size;
        OK(pthread_attr_init(&a));
        int set = pthread_attr_setstacksize(&a, k * KIB);
        int made = pthread_create(&thread, &a, fill, (void *)((k - 10) * KIB));
        if (made == 0)
            OK(pthread_join(thread, &result));
        OK(pthread_attr_getstacksize(&a, &size));
        SAY("%zu KiB: set %d, made %d, filled %d, asked for %zu", k, set, made, made == 0 && result, size);
        pthread_attr_destroy(&a);
    }
    pthread_attr_t a;
    OK(pthread_attr_init(&a));
    SAY("less than the least: %s", strerror(pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN - 1)));
}

/* 7 of the 8 MiB that ulimit -s usually gives. */
static void default_stack(void)
{
    pthread_t thread;
    pthread_attr_t a;
    size_t size;
    void *result;
    OK(pthread_attr_init(&a));
    OK(pthread_attr_getstacksize(&a, &size));
    OK(pthread_create(&thread, NULL, fill, (void *)(size - 16 * KIB)));
    OK(pthread_join(thread, &result));
    SAY("default %zu, filled %d", size, result != NULL);
    OK(pthread_create(&thread, &a, fill, (void *)(size - 16 * KIB)));
    OK(pthread_join(thread, &result));
    SAY("filled %d", result != NULL);
    fill((void *)(size - 256 * KIB)); /* the first thread has arguments and environment on it as well */
}

/* What a thread asks about its stack holds: all of it can be used, and it is on it. */
static void *ask(void *wanted)
{
    pthread_attr_t a;
    void *start;
    size_t size, guard;
    char here;
    OK(pthread_getattr_np(pthread_self(), &a));
    OK(pthread_attr_getstack(&a, &start, &size));
    OK(pthread_attr_getguardsize(&a, &guard));
    SAY("on it %d, as large as asked for %d, guard %zu", &here > (char *)start && &here < (char *)start + size, size >= (size_t)wanted, guard);
    pthread_attr_destroy(&a);
    return NULL;
}

static void where_the_stack_is(void)
{
    size_t sizes[] = {32 * KIB, 100 * KIB, 1024 * KIB};
    for (int i = 0; i < 3; i++) {
        pthread_attr_t a;
        pthread_t thread;
        OK(pthread_attr_init(&a));
        OK(pthread_attr_setstacksize(&a, sizes[i]));
        OK(pthread_create(&thread, &a, ask, (void *)sizes[i]));
        OK(pthread_join(thread, NULL));
    }
}

/* Memory of the program's own: of 256 KiB there are 128 at least. */
static void own_stack(void)
{
    size_t size = 256 * KIB;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *result, *start;
    pthread_attr_t a;
    pthread_t thread;
    OK(pthread_attr_init(&a));
    OK(pthread_attr_setstack(&a, memory, size));
    OK(pthread_create(&thread, &a, fill, (void *)(size_t)(128 * KIB)));
    OK(pthread_join(thread, &result));
    OK(pthread_attr_getstack(&a, &start, &size));
    SAY("filled %d, as given %d", result != NULL, start == memory && size == 256 * KIB);
    OK(munmap(memory, size));
}

static int c11_thread(void *argument)
{
    static _Thread_local int mine = 40;
    mine += *(int *)argument;
    return mine;
}

static void c11(void)
{
    thrd_t threads[3];
    int arguments[] = {1, 2, -50}, result;
    for (int i = 0; i < 3; i++)
        OK(thrd_create(&threads[i], c11_thread, &arguments[i]) != thrd_success);
    for (int i = 0; i < 3; i++) {
        OK(thrd_join(threads[i], &result) != thrd_success);
        SAY("%d", result);
    }
    mtx_t lock;
    cnd_t ready;
    OK(mtx_init(&lock, mtx_timed) != thrd_success);
    OK(cnd_init(&ready) != thrd_success);
    mtx_lock(&lock);
    struct timespec soon;
    timespec_get(&soon, TIME_UTC);
    SAY("timed out %d", cnd_timedwait(&ready, &lock, &soon) == thrd_timedout);
    mtx_unlock(&lock);
}

static _Thread_local int initialised = 7;
static _Thread_local char zero[3000];

static void *own_locals(void *number)
{
    int sum = initialised;
    for (size_t i = 0; i < sizeof zero; i++)
        sum += zero[i];
    memset(zero, 1, sizeof zero);
    initialised += (int)(intptr_t)number;
    return (void *)(intptr_t)(sum * 1000 + initialised);
}

static void thread_locals(void)
{
    void *result;
    for (int i = 1; i <= 5; i++) {
        pthread_t thread;
        OK(pthread_create(&thread, NULL, own_locals, (void *)(intptr_t)i));
        OK(pthread_join(thread, &result));
        SAY("%ld", (long)result);
    }
    SAY("first thread: %d %d", initialised, zero[5]);
}

static void names(void)
{
    char name[16];
    OK(pthread_setname_np(pthread_self(), "fifteen letters"));
    OK(pthread_getname_np(pthread_self(), name, sizeof name));
    SAY("%s", name);
    SAY("%s", strerror(pthread_setname_np(pthread_self(), "sixteen letters!")));
}

static void affinity(void)
{
    cpu_set_t all, one, now;
    OK(pthread_getaffinity_np(pthread_self(), sizeof all, &all));
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    OK(pthread_setaffinity_np(pthread_self(), sizeof one, &one));
    OK(sched_getaffinity(0, sizeof now, &now));
    SAY("%d CPU, mine %d, runs there %d", CPU_COUNT(&now), CPU_EQUAL(&one, &now), sched_getcpu() == cpu);
    pthread_attr_t a;
    pthread_t thread;
    OK(pthread_attr_init(&a));
    OK(pthread_attr_setaffinity_np(&a, sizeof one, &one));
    OK(pthread_create(&thread, &a, nothing, NULL));
    OK(pthread_join(thread, NULL));
}

static pthread_barrier_t barrier;
static atomic_int arrived, serial;

static void *meet(void *unused)
{
    for (int i = 0; i < 50; i++) {
        arrived++;
        serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    }
    return NULL;
}

static void run_all(int n, void *(*routine)(void *), void *argument)
{
    pthread_t threads[n];
    for (int i = 0; i < n; i++)
        OK(pthread_create(&threads[i], NULL, routine, argument));
    for (int i = 0; i < n; i++)
        OK(pthread_join(threads[i], NULL));
}

static void barriers(void)
{
    OK(pthread_barrier_init(&barrier, NULL, 4));
    run_all(4, meet, NULL);
    SAY("%d arrived, %d serial", arrived, serial);
    OK(pthread_barrier_destroy(&barrier));
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static int written, spun;

static void *read_and_write(void *unused)
{
    for (int i = 0; i < 200; i++) {
        OK(pthread_rwlock_rdlock(&rwlock));
        int seen = written;
        OK(pthread_rwlock_unlock(&rwlock));
        OK(pthread_rwlock_wrlock(&rwlock));
        written += seen <= written;
        OK(pthread_rwlock_unlock(&rwlock));
        OK(pthread_spin_lock(&spinlock));
        spun++;
        OK(pthread_spin_unlock(&spinlock));
    }
    return NULL;
}

static void *try_to_write(void *unused)
{
    SAY("a writer beside a reader: %s", strerror(pthread_rwlock_trywrlock(&rwlock)));
    return NULL;
}

static void rwlocks_and_spinlocks(void)
{
    OK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE));
    run_all(4, read_and_write, NULL);
    SAY("%d %d", written, spun);
    OK(pthread_rwlock_rdlock(&rwlock));
    run_all(1, try_to_write, NULL);
    OK(pthread_rwlock_unlock(&rwlock));
}

static atomic_int once_calls;
static void once_routine(void) { once_calls++; }
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *call_once_routine(void *unused)
{
    OK(pthread_once(&once, once_routine));
    return NULL;
}

static void once_for_all(void)
{
    run_all(8, call_once_routine, NULL);
    SAY("%d", once_calls);
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int value;
} shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void *ping(void *which)
{
    int mine = (int)(intptr_t)which;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&shared.lock);
        while (shared.value % 2 != mine)
            pthread_cond_wait(&shared.changed, &shared.lock);
        shared.value++;
        pthread_cond_broadcast(&shared.changed);
        pthread_mutex_unlock(&shared.lock);
    }
    return NULL;
}

static void conditions(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        OK(pthread_create(&threads[i], NULL, ping, (void *)(intptr_t)i));
    for (int i = 0; i < 2; i++)
        OK(pthread_join(threads[i], NULL));
    SAY("%d", shared.value);
}

static void condition_clocks(void)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    for (int i = 0; i < 2; i++) {
        pthread_condattr_t a;
        pthread_cond_t c;
        struct timespec soon;
        OK(pthread_condattr_init(&a));
        OK(pthread_condattr_setclock(&a, clocks[i]));
        OK(pthread_cond_init(&c, &a));
        OK(clock_gettime(clocks[i], &soon));
        soon.tv_sec += (soon.tv_nsec += 20000000) / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_mutex_lock(&shared.lock);
        int result = pthread_cond_timedwait(&c, &shared.lock, &soon);
        struct timespec now;
        clock_gettime(clocks[i], &now);
        SAY("%s, late %d", strerror(result), now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
        SAY("%s", strerror(pthread_cond_clockwait(&c, &shared.lock, clocks[!i], &(struct timespec){0})));
        pthread_mutex_unlock(&shared.lock);
        OK(pthread_cond_destroy(&c));
    }
    SAY("%s", strerror(pthread_condattr_setclock(&(pthread_condattr_t){0}, CLOCK_PROCESS_CPUTIME_ID)));
}

static pthread_mutex_t mutex_of(int type, int robust, int protocol)
{
    pthread_mutexattr_t a;
    pthread_mutex_t m;
    OK(pthread_mutexattr_init(&a));
    OK(pthread_mutexattr_settype(&a, type));
    OK(pthread_mutexattr_setrobust(&a, robust));
    OK(pthread_mutexattr_setprotocol(&a, protocol));
    OK(pthread_mutex_init(&m, &a));
    return m;
}

static pthread_mutex_t under_test;
static void *lock_it(void *unused) { return (void *)(intptr_t)pthread_mutex_lock(&under_test); }
static void *unlock_it(void *unused) { return (void *)(intptr_t)pthread_mutex_unlock(&under_test); }
static void *try_it(void *unused) { return (void *)(intptr_t)pthread_mutex_trylock(&under_test); }

static const char *from_another(void *(*routine)(void *))
{
    pthread_t thread;
    void *result;
    OK(pthread_create(&thread, NULL, routine, NULL));
    OK(pthread_join(thread, &result));
    return strerror((int)(intptr_t)result);
}

static void kinds_of_mutexes(void)
{
    under_test = mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    OK(pthread_mutex_lock(&under_test));
    SAY("again: %s", strerror(pthread_mutex_lock(&under_test)));
    SAY("another unlocks: %s", from_another(unlock_it));
    SAY("another tries: %s", from_another(try_it));
    OK(pthread_mutex_unlock(&under_test));
    SAY("unlocked twice: %s", strerror(pthread_mutex_unlock(&under_test)));
    under_test = mutex_of(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    for (int i = 0; i < 3; i++)
        OK(pthread_mutex_lock(&under_test));
    for (int i = 0; i < 3; i++) {
        SAY("another tries: %s", from_another(try_it));
        OK(pthread_mutex_unlock(&under_test));
    }
    SAY("then: %s", from_another(try_it));
}

/* The thread that has it ends: the kernel finds it in the thread's list. */
static void robust_mutexes(void)
{
    for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
        under_test = mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, protocol);
        SAY("%s", from_another(lock_it));
        SAY("%s", strerror(pthread_mutex_lock(&under_test)));
        OK(pthread_mutex_consistent(&under_test));
        OK(pthread_mutex_unlock(&under_test));
        SAY("%s", from_another(lock_it));
        SAY("%s", strerror(pthread_mutex_trylock(&under_test)));
        OK(pthread_mutex_unlock(&under_test));
        SAY("%s", strerror(pthread_mutex_lock(&under_test)));
    }
}

static void *wait_for_go(void *go)
{
    while (!*(atomic_int *)go)
        sched_yield();
    return go;
}

static void joins(void)
{
    atomic_int go = 0;
    pthread_t thread;
    void *result = NULL;
    OK(pthread_create(&thread, NULL, wait_for_go, &go));
    SAY("tryjoin %s", strerror(pthread_tryjoin_np(thread, &result)));
    SAY("timedjoin %s", strerror(pthread_timedjoin_np(thread, &result, &(struct timespec){0})));
    go = 1;
    OK(pthread_join(thread, &result));
    SAY("%d", result == &go);
    SAY("itself: %s", strerror(pthread_join(pthread_self(), NULL)));
    SAY("equal %d", pthread_equal(pthread_self(), pthread_self()) != 0);
    go = 0;
    OK(pthread_create(&thread, NULL, wait_for_go, &go));
    OK(pthread_detach(thread));
    SAY("detached twice: %s", strerror(pthread_detach(thread)));
    SAY("join: %s", strerror(pthread_join(thread, NULL)));
    fflush(stdout);
    _exit(0); /* it still waits */
}

/* errno and h_errno of one thread are not another's. */
static void *set_errno(void *unused)
{
    int before = errno;
    close(-1);
    return (void *)(intptr_t)(before == 0 && errno == EBADF);
}

static void own_errno(void)
{
    pthread_t thread;
    void *result;
    errno = ENOENT;
    OK(pthread_create(&thread, NULL, set_errno, NULL));
    OK(pthread_join(thread, &result));
    SAY("%d %s", result != NULL, strerror(errno));
}

static void many(void)
{
    pthread_attr_t a;
    void *result;
    long sum = 0;
    OK(pthread_attr_init(&a));
    OK(pthread_attr_setstacksize(&a, 16 * KIB));
    for (int round = 0; round < 20; round++) {
        pthread_t threads[20];
        for (long i = 0; i < 20; i++)
            OK(pthread_create(&threads[i], &a, nothing, (void *)i));
        for (int i = 0; i < 20; i++) {
            OK(pthread_join(threads[i], &result));
            sum += (long)result;
        }
    }
    SAY("%ld", sum);
}

const struct program programs[] = {
    PROGRAM(small_stacks), PROGRAM(default_stack), PROGRAM(where_the_stack_is), PROGRAM(own_stack), PROGRAM(c11), PROGRAM(thread_locals),
    PROGRAM(names), PROGRAM(affinity), PROGRAM(barriers), PROGRAM(rwlocks_and_spinlocks), PROGRAM(once_for_all), PROGRAM(conditions),
    PROGRAM(condition_clocks), PROGRAM(kinds_of_mutexes), PROGRAM(robust_mutexes), PROGRAM(joins), PROGRAM(own_errno), PROGRAM(many),
    {NULL, NULL},
};
