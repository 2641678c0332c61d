// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The table that a thread's calls jump through, and whose table a thread has. */
#include "dispatch.h"

#include <stdlib.h>

__thread void *const *tpsl_table __attribute__((tls_model("initial-exec"))) = tpsl_unbound_table;

void tpsl_act_for(struct tpsl_endpoint *ep)
{
    tpsl_endpoint_switch(ep);
    tpsl_become(ep ? ep->instance : NULL);
    tpsl_table = ep ? ep->table : tpsl_unbound_table;
    tpsl_present = ep && ep->progress ? (struct tpsl_presence *)ep->progress : NULL;
    if (ep)
        tpsl_give_signal_stack();
}

const char *tpsl_stub_name(const struct tpsl_job *job, int stub)
{
    const struct tpsl_libraries *l = job->libraries;
    if (tpsl_private_name(l, stub))
        return tpsl_private_name(l, stub);
    if (stub >= TPSL_NSTUBS && stub - TPSL_NSTUBS < l->nunlisted)
        return l->unlisted[stub - TPSL_NSTUBS];
    for (size_t i = 0; i < TPSL_NNAMES; i++)
        if (tpsl_names[i].stub == stub)
            return tpsl_names[i].name;
    return "?";
}

bool tpsl_checking;

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

/* A table begins with the entries that the stubs jump to: those of MPI that are listed, those that are not,
 * then those of private libraries. The instance's own functions follow where a stub jumps to another function: to one of
 * ours, or to the check of calls. */
static void **own(void **table, const struct tpsl_libraries *l, int stub)
{
    void **behind = table + TPSL_NSTUBS + l->nunlisted + l->nfunctions;
    if (tpsl_checking)
        return &behind[stub];
    for (int i = 0; i < NOURS; i++)
        if (ours[i].stub == stub)
            return &behind[i];
    return &table[stub];
}

bool tpsl_make_table(struct tpsl_endpoint *ep)
{
    const struct tpsl_libraries *l = ep->job->libraries;
    int n = TPSL_NSTUBS + l->nunlisted + l->nfunctions;
    void **table = calloc((size_t)(n + (tpsl_checking ? TPSL_NSTUBS : NOURS)), sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < TPSL_NNAMES; i++) {
        void **entry = own(table, l, tpsl_names[i].stub);
        if (!*entry)
            *entry = tpsl_instance_reference(ep->instance, tpsl_names[i].name);
    }
    for (int i = 0; tpsl_checking && i < TPSL_NSTUBS; i++)
        table[i] = *own(table, l, i) ? tpsl_checked_table[i] : NULL;
    for (int i = 0; i < NOURS; i++)
        table[ours[i].stub] = ours[i].function;
    for (int i = 0; i < l->nunlisted; i++)
        table[TPSL_NSTUBS + i] = tpsl_instance_reference(ep->instance, l->unlisted[i]);
    if (ep->copies)
        tpsl_fill_private(table, ep->copies);
    for (int i = 0; i < n; i++)
        if (!table[i])
            table[i] = tpsl_unbound_table[i]; /* says so when called */
    ep->table = table;
    return true;
}

_Noreturn void tpsl_lacks(const struct tpsl_endpoint *ep, int stub)
{
    const char *name = tpsl_stub_name(ep->job, stub);
    if (tpsl_private_name(ep->job->libraries, stub))
        tpsl_die(1, "%s: the rank's copy of a private library of the program has no such function", name);
    tpsl_die(1, "%s: the MPI library %s has no such function; name a newer one in TPSL_MPI_LIBRARY", name, tpsl_instance_file(ep->instance));
}

void *tpsl_real(const struct tpsl_endpoint *ep, int stub)
{
    void *function = *own(ep->table, ep->job->libraries, stub);
    if (!function)
        tpsl_lacks(ep, stub);
    return function;
}
