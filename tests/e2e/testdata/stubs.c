/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * stubs NAMES OFFSET: every stub jumps through its own entry of the thread's table,
 * and the table of every instance holds that instance's functions.
 *
 * NAMES is tpsl/names/mpich.names, OFFSET that of tpsl_table in libtpsl's TLS segment.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <sys/mman.h>

#include "names.h"

enum { THUNK = 16 };

static size_t offset;

/* The calling thread's tpsl_table. */
static void ***table(void)
{
    return thread_local_at(offset);
}

/* Function i is: mov $i, %eax; ret. */
static void **make_thunks(void)
{
    unsigned char *code = mmap(NULL, (size_t)stubs * THUNK, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void **t = malloc((size_t)stubs * sizeof *t);
    for (int i = 0; i < stubs; i++) {
        unsigned char *c = code + i * THUNK;
        *c = 0xb8;
        memcpy(c + 1, &i, 4);
        c[5] = 0xc3;
        t[i] = c;
    }
    return t;
}

static int call_every_name(void)
{
    int wrong = 0;
    void **before = *table();
    *table() = make_thunks();
    for (int i = 0; i < names; i++) {
        int (*f)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, name[i]);
        int got = f ? f() : -1;
        if (got != stub[i] && wrong++ < 5)
            printf("%s: stub %d, expected %d\n", name[i], got, stub[i]);
    }
    *table() = before;
    return wrong;
}

/* The runtime stands in front of these in every table. */
static int ours(const char *n)
{
    n += *n == 'P';
    return !strcmp(n, "MPI_Init") || !strcmp(n, "MPI_Init_thread") || !strcmp(n, "MPI_Finalize") || !strcmp(n, "MPI_Session_init");
}

/* The functions of the instance are in the table. Where it has none, an entry is that of `unbound`, which says so. */
static int compare_with_instance(void **unbound, int *lacks)
{
    int wrong = 0, slot = TPSL_Slot();
    for (int i = 0; i < names; i++) {
        void *want = TPSL_Symbol(slot, name[i]), *have = (*table())[stub[i]];
        *lacks += !want;
        if (!want)
            want = unbound[stub[i]];
        if (ours(name[i]) ? have == want : have != want) {
            wrong++;
            printf("slot %d: %s at %p in the table, %p in the instance\n", slot, name[i], have, want);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    read_names(argv[1]);
    offset = strtoul(argv[2], NULL, 0);
    int wrong = call_every_name();
    void *address[2], **unbound = *table();
    int lacks = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong, lacks)
    {
        MPI_Init(&argc, &argv);
        wrong += compare_with_instance(unbound, &lacks);
        address[TPSL_Slot()] = (*table())[0];
        MPI_Finalize();
    }
    wrong += address[0] == address[1];
    printf("%d names, %d stubs, %d wrong, the library lacks %d\n", names, stubs, wrong, lacks / 2);
    return wrong != 0;
}
