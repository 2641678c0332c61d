// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Walks up the stack with the unwinder of libgcc_s, which a program of C alone has not
 * loaded.
 */
#include "dispatch.h"

#include <unwind.h>

static _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
static _Unwind_Ptr (*ip_of)(struct _Unwind_Context *, int *);

static bool look(uintptr_t pc, bool exact, void *unused)
{
    return false;
}

/* The first walk initialises what the unwinder needs. */
void tpsl_walk_prepare(void)
{
    void *unwinder = dlopen("libgcc_s.so.1", RTLD_NOW);
    if (!unwinder)
        return; /* walks then have no frames */
    ip_of = (_Unwind_Ptr(*)(struct _Unwind_Context *, int *))dlsym(unwinder, "_Unwind_GetIPInfo");
    backtrace = (_Unwind_Reason_Code(*)(_Unwind_Trace_Fn, void *))dlsym(unwinder, "_Unwind_Backtrace");
    tpsl_walk(look, NULL);
}

struct walk {
    tpsl_visitor *visit;
    void *data;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *data)
{
    const struct walk *w = data;
    int exact = 0;
    uintptr_t pc = ip_of(frame, &exact);
    return pc && w->visit(pc, exact, w->data) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void tpsl_walk(tpsl_visitor *visit, void *data)
{
    struct walk w = {visit, data};
    if (backtrace && ip_of)
        backtrace(step, &w);
}
