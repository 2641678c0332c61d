// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

static struct tpsl_job *_Atomic first;

void tpsl_job_add(struct tpsl_job *job)
{
    job->next = atomic_load(&first);
    while (!atomic_compare_exchange_weak(&first, &job->next, job))
        ;
}

struct tpsl_job *tpsl_first_job(void)
{
    return atomic_load(&first);
}
