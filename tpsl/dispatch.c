// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch.h"

#include <stdlib.h>
#include <string.h>

__thread void *const *tpsl_table __attribute__((tls_model("initial-exec"))) = tpsl_unbound_table;

void tpsl_act_for(struct tpsl_endpoint *ep)
{
    tpsl_endpoint_switch(ep);
    tpsl_become(ep ? ep->instance : NULL);
    tpsl_table = ep ? ep->table : tpsl_unbound_table;
    if (ep)
        tpsl_give_signal_stack();
}

const char *tpsl_stub_name(int stub)
{
    if (tpsl_private_name(stub))
        return tpsl_private_name(stub);
    for (size_t i = 0; i < TPSL_NNAMES; i++)
        if (tpsl_names[i].stub == stub)
            return tpsl_names[i].name;
    return "?";
}

/* Entries that are ours in every table. */
static const struct {
    int stub;
    void *function;
} ours[] = {
    {TPSL_STUB_MPI_Init, tpsl_MPI_Init},
    {TPSL_STUB_MPI_Init_thread, tpsl_MPI_Init_thread},
    {TPSL_STUB_MPI_Finalize, tpsl_MPI_Finalize},
    {TPSL_STUB_MPI_Session_init, tpsl_MPI_Session_init},
};
enum { NOURS = sizeof ours / sizeof *ours };

/* A table is what the stubs jump to, those of MPI and then those of private libraries, and behind it the instance's own
 * functions where a stub jumps to another: to ours, or where calls are checked. */
static void **own(void **table, int stub)
{
    void **behind = table + TPSL_NSTUBS + tpsl_private_count();
    if (tpsl_checking)
        return &behind[stub];
    for (int i = 0; i < NOURS; i++)
        if (ours[i].stub == stub)
            return &behind[i];
    return &table[stub];
}

void **tpsl_make_table(struct tpsl_instance *in, const struct tpsl_copies *copies)
{
    int n = TPSL_NSTUBS + tpsl_private_count();
    void **table = calloc((size_t)(n + (tpsl_checking ? TPSL_NSTUBS : NOURS)), sizeof *table);
    if (!table)
        return NULL;
    for (size_t i = 0; i < TPSL_NNAMES; i++) {
        void **entry = own(table, tpsl_names[i].stub);
        if (!*entry)
            *entry = tpsl_instance_symbol(in, tpsl_names[i].name, NULL);
    }
    for (int i = 0; tpsl_checking && i < TPSL_NSTUBS; i++)
        table[i] = *own(table, i) ? tpsl_checked_table[i] : NULL;
    for (int i = 0; i < NOURS; i++)
        table[ours[i].stub] = ours[i].function;
    tpsl_fill_private(table, copies);
    for (int i = 0; i < n; i++)
        if (!table[i])
            table[i] = tpsl_unbound_table[i]; /* says so when called */
    return table;
}

_Noreturn static void lacks(const struct tpsl_instance *in, int stub)
{
    if (tpsl_private_name(stub))
        tpsl_die(1, "%s: the rank's copy of a private library of the program has no such function", tpsl_stub_name(stub));
    tpsl_die(1, "%s: the MPI library %s has no such function", tpsl_stub_name(stub), in->first->map.l_name);
}

void *tpsl_real(const struct tpsl_endpoint *ep, int stub)
{
    void *function = *own(ep->table, stub);
    if (!function)
        lacks(ep->instance, stub);
    return function;
}

/* MPI_Init, MPI_Init_thread, and the calls that a thread may make before them (MPI 4.0,
 * section 11.4.1, and those of sessions), claim a slot. */
static bool opens_slot(const char *name)
{
    static const char *const prefixes[] = {"MPI_Init", "MPI_Info_", "MPI_Session_", "MPI_T_", "MPI_Get_library_version", "MPI_Wti"};
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
    const char *name = tpsl_stub_name(stub);
    if (tpsl_self)
        lacks(tpsl_current, stub);
    void *answer = unbound_answer(stub);
    if (answer && !tpsl_is_set_up()) /* nobody is initialised; a wait here could be one under ld.so's lock */
        return answer;
    tpsl_setup();
    struct tpsl_endpoint *ep = tpsl_adopt();
    if (ep)
        return ep->table[stub];
    if (tpsl_private_name(stub)) /* the process's own copy serves threads without a rank */
        return tpsl_process_symbol(name, NULL);
    if (answer)
        return answer;
    if (opens_slot(name))
        return tpsl_claim(name)->table[stub];
    int thread = tpsl_openmp_thread(), n = tpsl_endpoints_count();
    ep = tpsl_endpoint_at(thread);
    if (thread < 0)
        tpsl_die(1, "a thread called %s before MPI_Init: every thread that is to be a rank calls MPI_Init first", name);
    if (ep && atomic_load(&ep->state) == TPSL_BOUND)
        tpsl_die(1, "a thread called %s without a rank: slot %d (rank %d) of OpenMP thread %d belongs to another live thread; TPSL_Switch shares a rank",
                 name, ep->slot, ep->rank, thread);
    tpsl_die(1, "OpenMP thread %d called %s before MPI_Init: this process has %d rank%s, and a thread becomes one by MPI_Init", thread, name, n,
             n == 1 ? "" : "s");
}
