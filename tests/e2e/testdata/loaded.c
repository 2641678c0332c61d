/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 */

/* loaded LIBTPSL: a program that is linked with an MPI library, and opens libtpsl later. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int function(void *unused)
{
    int rank;
    return MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*run)(int, int (*)(void *), void *, const void *) = library ? dlsym(library, "TPSL_Run") : NULL;
    if (run)
        return run(2, function, NULL, NULL);
    puts(dlerror());
    return 9;
}
