// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What differs between the two ABIs that a program may be built for: that of MPICH, and the standard one (MPI 5.0,
 * chapter 20). The stubs serve both, as they pass on what they get. A process has one of them.
 */
#include "dispatch.h"

#include <dlfcn.h>

bool tpsl_linked(const char *soname)
{
    void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library;
}

/* A stand-in has the functions from libtpsl, which it needs. */
const char *tpsl_other_mpi(const char *soname)
{
    Dl_info ours, theirs;
    void *library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD), *init = library ? dlsym(library, "PMPI_Init") : NULL;
    if (library)
        dlclose(library);
    bool other = init && dladdr(init, &theirs) && dladdr((void *)tpsl_other_mpi, &ours) && theirs.dli_fbase != ours.dli_fbase;
    return other ? theirs.dli_fname : NULL;
}

int tpsl_thread_multiple(const struct tpsl_job *job)
{
    return job->libraries->standard ? 4096 : 3;
}

bool tpsl_is_thread_level(const struct tpsl_job *job, int level)
{
    int funneled = job->libraries->standard ? 1024 : 1;
    return level == 0 || level == funneled || level == 2 * funneled || level == tpsl_thread_multiple(job);
}

/* The file of the library was judged by its symbols (internal/mpilib); this is its own word. A library that has
 * the function without the standard ABI answers with -1 (MPI 5.0, 20.4). */
void tpsl_check_abi(const struct tpsl_endpoint *ep)
{
    const struct tpsl_libraries *l = ep->job->libraries;
    int (*get_version)(int *, int *) = tpsl_instance_symbol(ep->instance, "PMPI_Abi_get_version", NULL);
    int major = -1, minor = -1;
    if (get_version)
        get_version(&major, &minor);
    if (l->standard && major != 1)
        tpsl_die(1, "rank %d: the MPI library %s says that it has version %d of the standard ABI, and the program was built for version 1; name another one in TPSL_MPI_LIBRARY",
                 ep->rank, l->mpi, major);
    if (!l->standard && major > 0)
        tpsl_die(1, "rank %d: the MPI library %s says that it has the standard ABI, and the program was built for MPICH's; name another one in TPSL_MPI_LIBRARY, or build the program by tpslcc -mpi=abi",
                 ep->rank, l->mpi);
}
