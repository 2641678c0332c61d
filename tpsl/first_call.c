// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The first MPI call of a thread: what the thread becomes by it. */
#include "dispatch.h"

#include <string.h>

/* MPI_Init, MPI_Init_thread, and the calls that a thread may make before them (MPI 4.0,
 * section 11.4.1, those of sessions, and MPI 5.0, 20.4), claim a slot. */
static bool opens_slot(const char *name)
{
    static const char *const prefixes[] = {"MPI_Init", "MPI_Info_", "MPI_Abi_", "MPI_Session_", "MPI_T_", "MPI_Get_library_version", "MPI_Wti"};
    if (*name == 'P')
        name++;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void *unbound_answer(int stub)
{
    switch (stub) {
    case TPSL_STUB_MPI_Initialized:
        return tpsl_unbound_Initialized;
    case TPSL_STUB_MPI_Finalized:
        return tpsl_unbound_Finalized;
    case TPSL_STUB_MPI_Get_version:
        return tpsl_unbound_Get_version;
    case TPSL_STUB_QMPI_Register_tool_name:
        return tpsl_unbound_Register_tool_name;
    default:
        return NULL;
    }
}

/* Called by tpsl_unbound_call: returns where the call goes on. */
__attribute__((used)) void *tpsl_first_call(int stub)
{
    if (tpsl_self)
        tpsl_lacks(tpsl_self, stub);
    void *answer = unbound_answer(stub);
    if (answer && !tpsl_is_set_up()) /* nobody is initialised; a wait here could be one under ld.so's lock */
        return answer;
    const struct tpsl_job *job = tpsl_setup();
    const char *name = tpsl_stub_name(job, stub);
    struct tpsl_endpoint *ep = tpsl_adopt();
    if (ep)
        return ep->table[stub];
    if (tpsl_private_name(job->libraries, stub)) /* the process's own copy serves threads without a rank */
        return tpsl_process_symbol(name, NULL);
    if (answer)
        return answer;
    if (opens_slot(name))
        return tpsl_claim(name)->table[stub];
    int thread = tpsl_openmp_thread(), n = job->nranks;
    ep = tpsl_endpoint_at(job->endpoints, thread);
    if (thread < 0)
        tpsl_die(1, "a thread called %s before MPI_Init: every thread that is to be a rank calls MPI_Init first", name);
    if (ep && atomic_load(&ep->state) == TPSL_BOUND)
        tpsl_die(1, "a thread called %s without a rank: slot %d (rank %d) of OpenMP thread %d belongs to another live thread; TPSL_Switch shares a rank",
                 name, ep->slot, ep->rank, thread);
    tpsl_die(1, "OpenMP thread %d called %s before MPI_Init: this process has %d rank%s, and a thread becomes one by MPI_Init", thread, name, n,
             n == 1 ? "" : "s");
}
