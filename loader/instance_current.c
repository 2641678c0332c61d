// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The instance for which a thread acts. */
#include "object.h"

__thread struct tpsl_instance *tpsl_current __attribute__((tls_model("initial-exec")));

struct tpsl_instance *tpsl_become(struct tpsl_instance *in)
{
    struct tpsl_instance *before = tpsl_current;
    if (in != before)
        tpsl_static_tls_turn(&tpsl_current, in);
    return before;
}
