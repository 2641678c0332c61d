/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

#ifndef TPSL_RANKS_RUN_H
#define TPSL_RANKS_RUN_H

#include <stdint.h>

/* Whether the program is linked with libtpsl. The other functions need that. */
int tpsl_ranks_linked(void);
/* The rank that the calling thread is, -1: none. */
int tpsl_ranks_self(void);
/* Calls tpslRank(job) on n ranks. cpus may be empty. */
void tpsl_ranks_run(int n, uintptr_t job, int thread_level, const char *cpus);

#endif
