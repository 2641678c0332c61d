// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A rank ends by the exit of its shim (shim/exit.c), whoever calls exit. */
#include "host.h"

#include <stdlib.h>

void tpsl_rank_finish(void)
{
    tpsl_instance_finish(tpsl_current);
}

/* Some functions of libc call exit (err, argp_parse, error). A rank must then run the shim's exit, as
 * libc's list of functions and its streams are not the rank's. libc calls what was registered last
 * first. The handler registers itself again for the next rank. */
static void on_libc_exit(int status, void *unused)
{
    tpsl_catch_libc_exit();
    void (*rank_exit)(int) = tpsl_current ? tpsl_instance_symbol(tpsl_current, "exit", NULL) : NULL;
    if (rank_exit)
        rank_exit(status);
}

void tpsl_catch_libc_exit(void)
{
    on_exit(on_libc_exit, NULL);
}
