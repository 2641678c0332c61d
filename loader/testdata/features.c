// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What symbols can be. Every state_of_ function counts in a variable that is reached in
 * its own way, so that all begin with 1 in each instance. Libraries made with BACK are
 * behind the other in the order of lookup, and define the same names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#ifdef BACK
int interposed = 100, protected_one = 100, symbolic = 100;
int which(void) { return 2; }
int back_sees(void) { return ++interposed; }
int *back_symbolic(void) { return &symbolic; }
char wide[37];
#else

int interposed;
int which(void) { return 1; }
int back_sees(void), *back_symbolic(void);
int interposed_one(void) { return back_sees() == interposed ? interposed : -1; }

__attribute__((visibility("protected"))) int protected_one;
__attribute__((visibility("hidden"))) int hidden_one;
int protected_state(void) { return ++protected_one; }
int hidden_state(void) { return dlsym(RTLD_DEFAULT, "hidden_one") ? -1 : ++hidden_one; }

__asm__("    .data\n    .globl unique\n    .type unique, @gnu_unique_object\n    .size unique, 4\nunique: .long 0\n    .previous\n");
extern int unique;
int unique_state(void) { return ++unique; }

/* 1: what is behind us, in the same instance; RTLD_DEFAULT is ours. */
int next_is_behind(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "which"), (*any)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "which");
    return next && any && next() == 2 && any() == 1 && dlsym(RTLD_NEXT, "strlen") == dlsym(RTLD_DEFAULT, "strlen");
}

#ifdef SIZE
/* The size of another library's variable. */
__asm__("    .data\n    .balign 8\nsize_of_wide: .quad wide@SIZE + 5\n    .previous\n");
extern const long size_of_wide __attribute__((visibility("hidden")));
int size_known(void) { return size_of_wide == 37 + 5; }
#else
int size_known(void) { return 1; }
#endif

/* An IFUNC that is called through the PLT, and whose resolver reads relocated data. */
static int resolved;
static int by_resolver(void) { return ++resolved; }
static int (*const choices[])(void) = {by_resolver};
static void *resolve(void) { return (void *)choices[0]; }
int picked(void) __attribute__((ifunc("resolve")));
int ifunc_state(void) { return picked(); }
#endif

/* With -Bsymbolic, the library that is behind keeps its own; or it is ours. */
#ifndef BACK
int symbolic;
int symbolic_is_ours(void) { return back_symbolic() == &symbolic; }
#endif
