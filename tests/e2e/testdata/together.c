// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/*
 * together COPIES [faults]: two threads copy, two others help (loader/copy_together.c, which is a part of this program). With "faults", some copies meet a page
 * that cannot be read or written. It prints how many copies are wrong, and whether the helpers have copied anything.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libc.h"

enum { MOST = 1 << 20, PAGE = 4096 };

__thread sigjmp_buf *volatile tpsl_copy_recovery __attribute__((tls_model("initial-exec")));
static bool with_faults;
static atomic_bool over;
static atomic_int wrong, faults;
static atomic_ulong helped; /* bytes */
static __thread bool helps;

#ifdef COUNTS
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    if (helps)
        helped += n;
    for (size_t i = 0; i < n; i++)
        ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
#endif

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (!tpsl_copy_recovery)
        abort();
    siglongjmp(*tpsl_copy_recovery, 1);
}

static void *help(void *unused)
{
    helps = true;
    while (!atomic_load(&over))
        if (atomic_load(&tpsl_copies_offered))
            tpsl_copies_help();
    return NULL;
}

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

/* False: the copy has met a bad address. */
static __attribute__((noinline)) bool copy(char *to, const char *from, size_t n)
{
    sigjmp_buf back;
    bool whole = sigsetjmp(back, 1) == 0;
    if (whole) {
        tpsl_copy_recovery = &back;
        tpsl_copy_bytes(to, from, n);
    }
    tpsl_copy_recovery = NULL;
    return whole;
}

static char *map(void)
{
    return mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *copies(void *argument)
{
    uint64_t random = 88172645463325252u + (uintptr_t)&random;
    char *from = map(), *to = map();
    for (int i = 0; i < MOST; i++)
        from[i] = (char)next(&random);
    for (long k = 0; k < (long)argument; k++) {
        size_t n = next(&random) % MOST, at = next(&random) % (MOST - n + 1);
        char *bad = next(&random) % 2 ? from : to;
        size_t page = next(&random) % (MOST / PAGE) * PAGE;
        bool has_bad = next(&random) % 4 == 0 && with_faults, meets = has_bad && page < at + n && page + PAGE > at;
        memset(to, 0, MOST);
        if (has_bad)
            mprotect(bad + page, PAGE, PROT_NONE);
        if (copy(to + at, from + at, n) == meets)
            wrong++;
        if (has_bad)
            mprotect(bad + page, PAGE, PROT_READ | PROT_WRITE);
        faults += meets;
        for (size_t i = 0; !meets && i < MOST; i++)
            if (to[i] != (i >= at && i < at + n ? from[i] : 0)) {
                wrong++;
                break;
            }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t owners[2], helpers[2];
    sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, NULL);
    with_faults = argc > 2;
    tpsl_copies_share();
    for (int i = 0; i < 2; i++)
        pthread_create(&helpers[i], NULL, help, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&owners[i], NULL, copies, (void *)strtol(argv[1], NULL, 10));
    for (int i = 0; i < 2; i++)
        pthread_join(owners[i], NULL);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(helpers[i], NULL);
    printf("%d wrong, %s\n", wrong, faults ? "some met a bad address" : "none met a bad address");
#ifdef COUNTS
    printf("the helpers copied %s\n", helped ? "something" : "nothing");
#endif
    return 0;
}
