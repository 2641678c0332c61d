// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* MPI_Init, MPI_Finalize and the calls that are legal without a rank. */
#include "dispatch.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#include "_cgo_export.h"
#include "tpsl.h"

/* MPI_SUCCESS of the MPI standard, and MPI_ERR_UNSUPPORTED_OPERATION of MPICH's mpi.h. Tools for QMPI, which get the
 * latter, are of MPICH's ABI: the standard has no QMPI. */
enum { SUCCESS = 0, UNSUPPORTED = 44 };

static struct tpsl_endpoint *begin(const char *call)
{
    struct tpsl_endpoint *ep = tpsl_claim(call);
    tpsl_wanted = TPSL_ANY_SLOT;
    if (atomic_load(&ep->phase) == TPSL_FINALIZED)
        tpsl_die(1, "%s: rank %d called MPI_Finalize before; MPI cannot be initialised again", call, ep->rank);
    if (atomic_load(&ep->phase) == TPSL_INITIALIZED)
        tpsl_die(1, "%s: rank %d (slot %d) is initialised already; a rank calls MPI_Init once", call, ep->rank, ep->slot);
    return ep;
}

/* When all ranks have initialised MPI, the memory that this left free in their heaps is given back:
 * MPICH reads tables for its collectives then, of which 40 kB per rank would stay. */
static void initialized(struct tpsl_endpoint *ep)
{
    struct tpsl_job *job = ep->job;
    if (atomic_exchange(&job->ranks[ep->slot].initialized, true) || atomic_fetch_sub(&job->uninitialized, 1) > 1)
        return;
    tpslAllInitialized(job);
    malloc_trim(0);
}

/* Proves that no pointer of one instance leads into another. */
static void verify(const struct tpsl_endpoint *ep)
{
    if (ep->job->verify)
        tpslVerify(ep->rank);
}

static int done(struct tpsl_endpoint *ep, int rc)
{
    if (rc == SUCCESS) {
        tpsl_check_initialized(ep);
        atomic_store(&ep->phase, TPSL_INITIALIZED);
        tpsl_collectives_start(ep);
        tpsl_windows_start(ep);
        tpsl_prepare_private(ep->copies);
        verify(ep);
        initialized(ep);
        tpsl_progress_open(ep);
    }
    return rc;
}

int tpsl_MPI_Init(int *argc, char ***argv)
{
    struct tpsl_endpoint *ep = begin("MPI_Init");
    int (*real)(int *, char ***) = tpsl_real(ep, TPSL_STUB_MPI_Init);
    __attribute__((cleanup(tpsl_check_leave))) struct tpsl_call call;
    tpsl_check_enter(&call, ep, TPSL_STUB_MPI_Init, true);
    return done(ep, real(argc, argv));
}

int tpsl_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct tpsl_endpoint *ep = begin("MPI_Init_thread");
    int (*real)(int *, char ***, int, int *) = tpsl_real(ep, TPSL_STUB_MPI_Init_thread);
    __attribute__((cleanup(tpsl_check_leave))) struct tpsl_call call;
    tpsl_check_enter(&call, ep, TPSL_STUB_MPI_Init_thread, true);
    return done(ep, real(argc, argv, required, provided));
}

/* A session may be all that initialises MPI. The handles are ints in MPICH's ABI and pointers in the standard one, and
 * both are passed on as they are. */
int tpsl_MPI_Session_init(uintptr_t info, uintptr_t errhandler, void *session)
{
    struct tpsl_endpoint *ep = tpsl_self;
    int (*real)(uintptr_t, uintptr_t, void *) = tpsl_real(ep, TPSL_STUB_MPI_Session_init);
    tpsl_progress_close(ep); /* any thread may call this at any time, so it does not mark the rank as inside */
    int rc = real(info, errhandler, session);
    if (rc == SUCCESS) {
        tpsl_prepare_private(ep->copies);
        initialized(ep);
    }
    return rc;
}

int tpsl_MPI_Finalize(void)
{
    struct tpsl_endpoint *ep = tpsl_self;
    verify(ep);
    int (*real)(void) = tpsl_real(ep, TPSL_STUB_MPI_Finalize);
    __attribute__((cleanup(tpsl_check_leave))) struct tpsl_call call;
    tpsl_check_enter(&call, ep, TPSL_STUB_MPI_Finalize, true);
    int rc = real();
    if (rc == SUCCESS)
        atomic_store(&ep->phase, TPSL_FINALIZED);
    return rc;
}

__thread bool tpsl_was_rank __attribute__((tls_model("initial-exec")));

/* A thread without a rank has not initialised MPI, whatever other threads did. */
int tpsl_unbound_Initialized(int *flag)
{
    *flag = tpsl_was_rank;
    return SUCCESS;
}

int tpsl_unbound_Finalized(int *flag)
{
    *flag = tpsl_was_rank;
    return SUCCESS;
}

/* The answer of any rank of the process's own job. Before the first, the MPI library's file tells it. */
int tpsl_unbound_Get_version(int *version, int *subversion)
{
    const struct tpsl_job *job = tpsl_is_set_up();
    for (int i = 0; job && i < job->nranks; i++) {
        const struct tpsl_endpoint *ep = &job->endpoints->at[i];
        if (atomic_load(&ep->state) == TPSL_BOUND) {
            int (*real)(int *, int *) = tpsl_real(ep, TPSL_STUB_MPI_Get_version);
            return real(version, subversion);
        }
    }
    char *error = tpslStandardVersion(version, subversion);
    if (error)
        tpsl_die(1, "MPI_Get_version: %s", error);
    return SUCCESS;
}

/* The program's own MPI_Init, so that a tool in front of ours sees the call. */
int TPSL_MPI_Init(int *argc, char ***argv, int slot)
{
    int (*init)(int *, char ***) = tpsl_process_symbol("MPI_Init", NULL);
    tpsl_wanted = slot;
    return (init ? init : tpsl_MPI_Init)(argc, argv);
}

int TPSL_Init(int slot)
{
    return TPSL_MPI_Init(NULL, NULL, slot);
}

__attribute__((destructor)) static void finish(void)
{
    const struct tpsl_job *job = tpsl_is_set_up();
    for (int i = 0; job && i < job->nranks; i++) {
        const struct tpsl_endpoint *ep = &job->endpoints->at[i];
        if (atomic_load(&ep->phase) == TPSL_FINALIZED)
            tpsl_instance_finish(ep->instance);
    }
    tpsl_finish_dlopened();
    if (job)
        tpsl_progress_report(job);
}

/* QMPI's tools register in constructors, where there is no rank whose MPI library could keep
 * them. */
int tpsl_unbound_Register_tool_name(const char *tool, void (*begin)(int tool_id))
{
    (void)tool;
    (void)begin;
    return UNSUPPORTED;
}
