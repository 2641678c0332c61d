// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A generalized request. MPI_Iprobe lets the library work only while no message fits. */
#include "pending.h"

#include "dispatch.h"

enum { SUCCESS = 0 };
#define STATUS_IGNORE ((void *)1)

static int ignore_query(void *extra, void *status) { return SUCCESS; }
static int ignore_free(void *extra) { return SUCCESS; }
static int ignore_cancel(void *extra, int complete) { return SUCCESS; }

bool tpsl_pending_start(struct tpsl_pending *p, const struct tpsl_endpoint *ep)
{
    int (*start)(void *, void *, void *, void *, int *) = tpsl_instance_symbol(ep->instance, "PMPI_Grequest_start", NULL);
    p->status = tpsl_instance_symbol(ep->instance, "PMPI_Request_get_status", NULL);
    p->complete = tpsl_instance_symbol(ep->instance, "PMPI_Grequest_complete", NULL);
    p->wait = tpsl_instance_symbol(ep->instance, "PMPI_Wait", NULL);
    return start && p->status && p->complete && p->wait && start(ignore_query, ignore_free, ignore_cancel, NULL, &p->request) == SUCCESS;
}

bool tpsl_pending_look(struct tpsl_pending *p)
{
    int done;
    return p->status(p->request, &done, STATUS_IGNORE) == SUCCESS;
}

void tpsl_pending_end(struct tpsl_pending *p)
{
    p->complete(p->request);
    p->wait(&p->request, STATUS_IGNORE);
}
