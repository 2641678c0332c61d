// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Which instance a thread acts for. */
#include "object.h"

__thread struct tpsl_instance *tpsl_current __attribute__((tls_model("initial-exec")));

/* tls_static.c explains why the store must come before the look at the instance's thread-locals. */
struct tpsl_instance *tpsl_become(struct tpsl_instance *in)
{
    struct tpsl_instance *before = tpsl_current;
    if (in == before)
        return before;
    tpsl_static_tls_join(&tpsl_current);
    __atomic_store_n(&tpsl_current, in, __ATOMIC_SEQ_CST);
    if (in)
        tpsl_static_tls_turn_to(&in->static_tls);
    return before;
}
