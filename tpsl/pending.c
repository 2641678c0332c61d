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

bool tpsl_pending_start(struct tpsl_pending *p)
{
    int (*start)(void *, void *, void *, void *, int *) = tpsl_wrapped("PMPI_Grequest_start");
    p->status = tpsl_wrapped("PMPI_Request_get_status");
    p->complete = tpsl_wrapped("PMPI_Grequest_complete");
    p->wait = tpsl_wrapped("PMPI_Wait");
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
