// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* TPSL_CHECK=1: which thread is inside which call of which rank, and whether that is allowed. The
 * entries of a rank's table then lead to tpsl_checked_call. MPI_Init, MPI_Init_thread and MPI_Finalize,
 * which are our functions in every table, call tpsl_check_enter and tpsl_check_leave themselves.
 *
 * An endpoint has one word, for the thread inside its calls. That suffices: a second thread is either an
 * error, or the rank has MPI_THREAD_MULTIPLE and any number of threads is right.
 */
#include "dispatch.h"

#include <string.h>
#include <unistd.h>

static bool any_thread[TPSL_NSTUBS]; /* calls that are no concern of other threads */
static __thread struct tpsl_call *innermost __attribute__((tls_model("initial-exec")));

/* These calls are thread-safe at every level (MPI 4.0, 11.4.1 and table 11.1, 11.6.2, 15.3; MPI 5.0, 20.4). MPI_Abort
 * ends the job and is not checked. */
bool tpsl_for_any_thread(const char *name)
{
    static const char *const prefixes[] = {
        "MPI_Abi_", "MPI_Abort", "MPI_Errhandler_free", "MPI_Error_", "MPI_Finalized", "MPI_Get_version",
        "MPI_Get_library_version", "MPI_Info_", "MPI_Initialized", "MPI_Is_thread_main", "MPI_Query_thread",
        "MPI_Session_call_err", "MPI_Session_create_err", "MPI_Session_init", "MPI_T_", "MPI_Wti",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

void tpsl_check_start(void)
{
    for (int i = 0; i < TPSL_NNAMES; i++)
        any_thread[tpsl_names[i].stub] |= tpsl_for_any_thread(tpsl_names[i].name);
    tpsl_checking = true;
}

void tpsl_check_initialized(struct tpsl_endpoint *ep)
{
    if (!tpsl_checking)
        return;
    int level = 0;
    int (*query)(int *) = tpsl_real(ep, TPSL_STUB_MPI_Query_thread);
    query(&level);
    ep->occupancy.multiple = level == tpsl_thread_multiple(ep->job);
}

/* Whether a second thread may be inside the rank while another one is inside the call `other`. Sessions
 * have thread levels of their own, so a rank without MPI_Init is not checked. */
static bool may_share(const struct tpsl_endpoint *ep, uint64_t other)
{
    int stub = (int)(uint32_t)other;
    if (stub == TPSL_STUB_MPI_Init || stub == TPSL_STUB_MPI_Init_thread)
        return false;
    return ep->occupancy.multiple || atomic_load(&ep->phase) != TPSL_INITIALIZED;
}

static pid_t thread_id(void)
{
    static __thread pid_t id __attribute__((tls_model("initial-exec")));
    return id ? id : (id = gettid());
}

/* Makes the calling thread the one inside, unless it is already. */
static void occupy(struct tpsl_call *call)
{
    struct tpsl_endpoint *ep = call->ep;
    pid_t thread = thread_id();
    uint64_t mine = (uint64_t)thread << 32 | (uint32_t)call->stub, other = 0;
    call->occupies = atomic_compare_exchange_strong(&ep->occupancy.inside, &other, mine);
    if (call->occupies || other >> 32 == (uint64_t)thread || may_share(ep, other))
        return;
    tpsl_die(1, "thread %d called %s of rank %d (slot %d) while thread %d is inside %s of it; let one wait for the other, or ask for MPI_THREAD_MULTIPLE",
             thread, tpsl_stub_name(ep->job, call->stub), ep->rank, ep->slot, (int)(other >> 32), tpsl_stub_name(ep->job, (int)(uint32_t)other));
}

void tpsl_check_enter(struct tpsl_call *call, struct tpsl_endpoint *ep, int stub, bool alone)
{
    if (!tpsl_checking)
        return;
    *call = (struct tpsl_call){.ep = ep, .stub = stub, .outer = innermost};
    innermost = call;
    if (alone)
        occupy(call);
}

void tpsl_check_leave(struct tpsl_call *call)
{
    if (!tpsl_checking)
        return;
    innermost = call->outer;
    if (call->occupies)
        atomic_store(&call->ep->occupancy.inside, 0);
}

void tpsl_check_switch(const char *call, const struct tpsl_endpoint *to)
{
    if (!tpsl_checking)
        return;
    if (innermost)
        tpsl_die(1, "%s: thread %d is inside %s of rank %d (slot %d), in a callback of it; call %s when that has returned", call, thread_id(),
                 tpsl_stub_name(innermost->ep->job, innermost->stub), innermost->ep->rank, innermost->ep->slot, call);
    uint64_t other = to ? atomic_load(&to->occupancy.inside) : 0;
    if (other && !may_share(to, other))
        tpsl_die(1, "%s: thread %d is to act for rank %d (slot %d) while thread %d is inside %s of it; wait until that has returned, or ask for MPI_THREAD_MULTIPLE",
                 call, thread_id(), to->rank, to->slot, (int)(other >> 32), tpsl_stub_name(to->job, (int)(uint32_t)other));
}

/* What arguments.h saves, and where the caller put the others. */
struct tpsl_arguments {
    uint64_t integers[6], rax;
    const void *stack;
    unsigned char xmm[8][16];
};
_Static_assert(sizeof(struct tpsl_arguments) == 192, "arguments.h");
void tpsl_pass_on(void *function, struct tpsl_arguments *);

/* Called by tpsl_check_stub. The end of the call may also be a C++ exception of the
 * program's callback that passes through it. */
__attribute__((used)) void tpsl_checked_call(int stub, struct tpsl_arguments *a)
{
    struct tpsl_endpoint *ep = tpsl_self;
    __attribute__((cleanup(tpsl_check_leave))) struct tpsl_call call;
    tpsl_check_enter(&call, ep, stub, !any_thread[stub]);
    tpsl_pass_on(tpsl_real(ep, stub), a);
}
