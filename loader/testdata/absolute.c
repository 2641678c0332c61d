// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* An absolute symbol (SHN_ABS): the linker is told -Wl,--defsym,fixed=0x1234. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

extern char fixed[];

int referred(void) { return (int)(intptr_t)fixed; }
int found(void) { return (int)(intptr_t)dlsym(RTLD_DEFAULT, "fixed"); }
