// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// In front of UCX: a rank that found nothing to do gives its core to another. Ranks
// that poll on fewer cores than they are many wait a scheduler's tick for each
// message otherwise. It is linked with the MPI library, so that in private mode each
// rank has its own, as of any tool.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*next)(void *);
    if (next == NULL)
        next = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned found = next(worker);
    if (found == 0)
        sched_yield();
    return found;
}
