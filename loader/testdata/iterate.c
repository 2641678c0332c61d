// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include <dlfcn.h>

/* The process's dl_iterate_phdr, not the one that this library is given. */
void *of_process(void) { return dlsym(dlopen(0, RTLD_LAZY), "dl_iterate_phdr"); }
