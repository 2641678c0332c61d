// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* What a thread of a rank has from its beginning: a stack for the handler of faults, and
 * the rank's locale. */
#include "host.h"

/* The shim's part, of the instance that makes the thread. */
static void *capture(void)
{
    return tpsl_current ? tpsl_instance_symbol(tpsl_current, "tpsl_thread_begins", NULL) : NULL;
}

static void enter(void *begins)
{
    tpsl_give_signal_stack();
    ((void (*)(void))begins)();
}

void tpsl_threads_start(void)
{
    static const struct tpsl_thread_hooks hooks = {capture, enter};
    tpsl_set_thread_hooks(&hooks);
}
