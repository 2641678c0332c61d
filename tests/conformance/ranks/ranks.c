/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The main of a test in shared mode: every OpenMP thread is a rank and runs the test's own
 * main, which has another name by now. Variables of the test exist once per rank.
 *
 * To clang they are thread-local ones of the emulated model (-femulated-tls): code asks
 * __emutls_get_address where a variable is. libgcc's answer is by thread; ours is by rank,
 * so that the threads which a test makes share the variables of their rank.
 */
#include <mpi.h>

#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 16, MOST_VARIABLES = 1024 };

/* What the compiler makes for a variable. */
struct variable {
    uintptr_t size, align;
    atomic_uintptr_t number;  /* 0: not asked for yet */
    const void *initial;      /* NULL: all zero */
};

static atomic_uintptr_t variables;
static _Atomic(void *) copies[MOST_RANKS][MOST_VARIABLES];
static _Thread_local int own = -1; /* slot of a thread that runs a main */

static void die(const char *why)
{
    fprintf(stderr, "ranks.c: %s\n", why);
    abort();
}

/* The slot whose variables the calling thread uses. A thread that a test made acts for the
 * rank of the one that made it. */
static int slot(void)
{
    int s = own >= 0 ? own : TPSL_Slot();
    if (s < 0 || s >= MOST_RANKS)
        die("a thread without a rank uses a variable");
    return s;
}

static uintptr_t number(struct variable *v)
{
    uintptr_t n = v->number;
    if (n)
        return n;
    uintptr_t next = ++variables; /* lost where another thread is faster */
    if (next >= MOST_VARIABLES)
        die("more variables than MOST_VARIABLES");
    return atomic_compare_exchange_strong(&v->number, &n, next) ? next : n;
}

static void *new_copy(const struct variable *v)
{
    size_t align = v->align < sizeof(void *) ? sizeof(void *) : v->align;
    void *copy;
    if (posix_memalign(&copy, align, v->size))
        die("no memory for a variable");
    return v->initial ? memcpy(copy, v->initial, v->size) : memset(copy, 0, v->size);
}

void *__emutls_get_address(struct variable *v)
{
    _Atomic(void *) *place = &copies[slot()][number(v)];
    void *copy = *place;
    if (copy)
        return copy;
    void *mine = new_copy(v);
    if (atomic_compare_exchange_strong(place, &copy, mine))
        return mine;
    free(mine);
    return copy;
}

int tpsl_test_main(int argc, char **argv);

/* A rank may change its arguments. */
static char **copy_of(int argc, char **argv)
{
    char **copy = calloc((size_t)argc + 1, sizeof *copy);
    for (int i = 0; i < argc; i++)
        copy[i] = strdup(argv[i]);
    return copy;
}

int main(int argc, char **argv)
{
    int worst = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(TPSL_Local_size()) reduction(max : worst)
    {
        own = omp_get_thread_num();
        worst = tpsl_test_main(argc, copy_of(argc, argv));
    }
    return worst;
}
