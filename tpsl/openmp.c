// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What libtpsl asks an OpenMP runtime, and tells it. The program may have none. */
#include "dispatch.h"

#include <dlfcn.h>
#include <stdlib.h>

/* libgomp may come late, with a library that the program opens; so ask until it is
 * there. */
int tpsl_openmp_thread(void)
{
    int (*level)(void) = dlsym(RTLD_DEFAULT, "omp_get_level");
    int (*ancestor)(int) = dlsym(RTLD_DEFAULT, "omp_get_ancestor_thread_num");
    return level && ancestor && level() > 0 ? ancestor(1) : -1;
}

int tpsl_openmp_team(void)
{
    int (*size)(int) = dlsym(RTLD_DEFAULT, "omp_get_team_size");
    return size && tpsl_openmp_thread() >= 0 ? size(1) : 0;
}

enum { MOST = 10000 }; /* no process has so many ranks, and OpenMP runtimes crash at the numbers of typing errors */

/* TPSL_RANKS gives OpenMP as many threads as there are ranks, as a launcher does by OMP_NUM_THREADS, unless the user says how many. A
 * runtime reads the variable when it is loaded, which may be before or after libtpsl is: it is told by a call as well. */
__attribute__((constructor(102))) static void give_threads(void)
{
    const char *ranks = getenv("TPSL_RANKS");
    int n = ranks ? atoi(ranks) : 0;
    if (n < 1 || n > MOST || getenv("OMP_NUM_THREADS") || getenv("PMI_FD") || getenv("PMI_ID") || getenv("PMIX_RANK"))
        return;
    setenv("OMP_NUM_THREADS", ranks, 0);
    void (*set)(int) = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set)
        set(n);
}
