// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include <link.h>

/* The process's dl_iterate_phdr, not the one that a private library is given: with PROCESS
 * this is the process's library. */
#ifdef PROCESS
void *in_process(void) { return (void *)dl_iterate_phdr; }
#else
void *in_process(void);
void *of_process(void) { return in_process(); }
#endif
