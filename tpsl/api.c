// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#include "tpsl.h"

#include "dispatch.h"

int TPSL_Local_size(void)
{
    return tpsl_job()->nranks;
}

int TPSL_Slot(void)
{
    return tpsl_self ? tpsl_self->slot : -1;
}

int TPSL_Rank_of(int slot)
{
    const struct tpsl_endpoint *ep = tpsl_endpoint_at(tpsl_job()->endpoints, slot);
    return ep ? ep->rank : -1;
}

int TPSL_Same_process(int rank)
{
    const struct tpsl_endpoints *e = tpsl_job()->endpoints;
    for (int i = 0; i < e->count; i++)
        if (e->at[i].rank == rank)
            return 1;
    return 0;
}

static struct tpsl_endpoint *live(const char *call, int slot)
{
    struct tpsl_job *job = tpsl_job();
    struct tpsl_endpoint *ep = tpsl_endpoint_at(job->endpoints, slot);
    if (!ep)
        tpsl_no_such_slot(job, call, slot);
    int state = atomic_load(&ep->state);
    if (state != TPSL_BOUND && state != TPSL_ENDED)
        tpsl_die(1, "%s: slot %d (rank %d) is not initialised yet", call, slot, ep->rank);
    return ep;
}

static struct tpsl_endpoint *none(void)
{
    struct tpsl_endpoint *own = tpsl_endpoint_owned();
    if (own)
        tpsl_die(1, "TPSL_Switch: slot -1 is for threads without a slot of their own; this one owns slot %d (rank %d)", own->slot, own->rank);
    return NULL;
}

int TPSL_Switch(int slot)
{
    struct tpsl_endpoint *ep = slot == -1 ? none() : live("TPSL_Switch", slot);
    tpsl_check_switch("TPSL_Switch", ep);
    int before = TPSL_Slot();
    tpsl_act_for(ep);
    return before;
}

int TPSL_Adopt(int slot)
{
    struct tpsl_endpoint *ep = live("TPSL_Adopt", slot), *own = tpsl_endpoint_owned();
    if (own)
        tpsl_die(1, "TPSL_Adopt: this thread owns slot %d (rank %d) already; TPSL_Switch acts as another rank", own->slot, own->rank);
    tpsl_check_switch("TPSL_Adopt", ep);
    if (!tpsl_endpoint_adopt(ep, 0))
        return -1;
    tpsl_rank_pin_thread(ep->job, &ep->job->ranks[slot]);
    tpsl_act_for(ep);
    return 0;
}

void *TPSL_Symbol(int slot, const char *name)
{
    return tpsl_instance_reference(live("TPSL_Symbol", slot)->instance, name);
}
