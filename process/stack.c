// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Walks up the stack with the unwinder of libgcc_s. */
#include "process.h"

#include <unwind.h>

static bool look(uintptr_t pc, bool exact, void *unused)
{
    return false;
}

/* The first walk initialises what the unwinder needs. */
void tpsl_stack_prepare(void)
{
    tpsl_stack_walk(look, NULL);
}

struct walk {
    tpsl_frame_visitor *visit;
    void *data;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *data)
{
    const struct walk *w = data;
    int exact = 0;
    uintptr_t pc = _Unwind_GetIPInfo(frame, &exact);
    return pc && w->visit(pc, exact, w->data) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void tpsl_stack_walk(tpsl_frame_visitor *visit, void *data)
{
    struct walk w = {visit, data};
    _Unwind_Backtrace(step, &w);
}

enum { RAX = 0, RDI = 5 }; /* psABI, "DWARF Register Number Mapping" */

struct search {
    bool (*is)(const struct tpsl_interruption *);
    bool found;
};

/* An exact address is one that the kernel saved with all registers. */
static _Unwind_Reason_Code look_at_interruption(struct _Unwind_Context *frame, void *data)
{
    struct search *s = data;
    int exact = 0;
    uintptr_t pc = _Unwind_GetIPInfo(frame, &exact);
    if (pc && exact)
        s->found = s->is(&(struct tpsl_interruption){pc, (long)_Unwind_GetGR(frame, RAX), _Unwind_GetGR(frame, RDI)});
    return pc && !s->found ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool tpsl_interrupted(bool (*is)(const struct tpsl_interruption *))
{
    struct search s = {.is = is};
    _Unwind_Backtrace(look_at_interruption, &s);
    return s.found;
}
