// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Nested functions of GNU C: where their address is taken, a piece of code is put on the stack,
 * which the compiler marks as executable (PT_GNU_STACK). */
#include "posix.h"

#include <pthread.h>
#include <sys/wait.h>

typedef int binary(int);

static __attribute__((noinline)) int twice(binary *f, int x) { return f(f(x)); }

static __attribute__((noinline)) int shifted(int by, int x)
{
    int add(int y) { return y + by; }
    return twice(add, x);
}

static void first_thread(void)
{
    SAY("%d", shifted(rank + 10, 1));
}

static void *in_thread(void *number)
{
    return (void *)(long)shifted((int)(long)number, 0);
}

static void threads(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t all[8];
        void *result;
        long sum = 0;
        for (long i = 0; i < 8; i++)
            OK(pthread_create(&all[i], NULL, in_thread, (void *)i));
        for (int i = 0; i < 8; i++) {
            OK(pthread_join(all[i], &result));
            sum += (long)result;
        }
        SAY("%ld", sum);
    }
}

static void small_and_deep_stacks(void)
{
    pthread_attr_t a;
    void *result;
    OK(pthread_attr_init(&a));
    for (size_t kib = 16; kib <= 4096; kib *= 4) {
        pthread_t thread;
        OK(pthread_attr_setstacksize(&a, kib << 10));
        OK(pthread_create(&thread, &a, in_thread, (void *)kib));
        OK(pthread_join(thread, &result));
        SAY("%ld", (long)result);
    }
    int down(int depth)
    {
        volatile char frame[4096] = "";
        int same(int y) { return y + frame[0]; }
        return depth == 0 ? 0 : twice(same, 1) + down(depth - 1);
    }
    SAY("%d", down(1000));
}

static void sorted(void)
{
    int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6}, comparisons = 0;
    int compare(const void *a, const void *b)
    {
        comparisons++;
        return *(const int *)a - *(const int *)b;
    }
    qsort(numbers, 8, sizeof *numbers, compare);
    for (int i = 0; i < 8; i++)
        printf("%d ", numbers[i]);
    SAY("%d", comparisons > 0);
}

static void in_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(shifted(20, 2));
    int status;
    OK(waitpid(child, &status, 0) != child);
    SAY("%d", WEXITSTATUS(status));
}

const struct program programs[] = {
    PROGRAM(first_thread), PROGRAM(threads), PROGRAM(small_and_deep_stacks), PROGRAM(sorted), PROGRAM(in_child), {NULL, NULL},
};
