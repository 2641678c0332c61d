/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

#include "run.h"

#include "tpsl.h"

#include <stddef.h>

#include "_cgo_export.h"

/* The package can be built, and imported, where there is no libtpsl. */
#pragma weak TPSL_Run
#pragma weak TPSL_Slot
#pragma weak TPSL_Rank_of

int tpsl_ranks_linked(void)
{
    return TPSL_Run && TPSL_Slot && TPSL_Rank_of;
}

int tpsl_ranks_self(void)
{
    return TPSL_Rank_of(TPSL_Slot());
}

static int be_rank(void *job)
{
    tpslRank((uintptr_t)job);
    return 0;
}

void tpsl_ranks_run(int n, uintptr_t job, int thread_level, const char *cpus)
{
    struct TPSL_Options options = {.size = sizeof options, .thread_level = thread_level, .cpus = *cpus ? cpus : NULL};
    TPSL_Run(n, be_rank, (void *)job, &options);
}
