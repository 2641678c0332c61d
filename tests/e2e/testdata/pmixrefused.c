// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A client of PMIx that asks for what cannot be had. Each time it must be told so. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>

static void refused(const char *what, pmix_status_t status)
{
    if (status != PMIX_SUCCESS)
        return;
    fprintf(stderr, "%s is not refused\n", what);
    exit(1);
}

static pmix_status_t spawn(int ranks)
{
    char *argv[] = {"true", NULL};
    pmix_app_t app = {.cmd = "true", .argv = argv, .maxprocs = ranks};
    pmix_nspace_t space;

    return PMIx_Spawn(NULL, 0, &app, 1, space);
}

static void null_strings(void)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, "a service", NULL, PMIX_STRING);
    refused("a name without a value", PMIx_Publish(&info, 1));
    PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, NULL, PMIX_STRING);
    (void)PMIx_Log(&info, 1, NULL, 0); /* nothing to say */
}

static void strangers(const pmix_proc_t *self)
{
    pmix_proc_t both[2] = {*self};
    pmix_value_t *value;

    PMIX_LOAD_PROCID(&both[1], "nobody", 0);
    refused("a value of nobody", PMIx_Get(&both[1], "key", NULL, 0, &value));
    PMIX_LOAD_PROCID(&both[1], "no one", 0);
    refused("a meeting with no one", PMIx_Connect(both, 2, NULL, 0));
    PMIX_LOAD_PROCID(&both[1], "noone", 0);
    refused("a fence with no one", PMIx_Fence(both, 2, NULL, 0));
    PMIX_LOAD_PROCID(&both[1], "two\nfence 0x1", 0);
    refused("a value of two lines", PMIx_Get(&both[1], "key", NULL, 0, &value));
}

int main(void)
{
    pmix_proc_t self;

    if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS)
        return 1;
    refused("to take back names of which there is no list", PMIx_Unpublish(NULL, NULL, 0));
    refused("-1 ranks", spawn(-1));
    refused("0 ranks", spawn(0));
    null_strings();
    strangers(&self);
    puts("all refused");
    return PMIx_Finalize(NULL, 0);
}
