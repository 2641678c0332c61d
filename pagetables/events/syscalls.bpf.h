/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

/* System calls, and among them waits for other threads. */
#pragma once

#include "tables.bpf.h"

enum { FUTEX = 202, FUTEX_WAITV = 449, FUTEX_WAIT_2 = 455 };

static bool is_futex(long id)
{
	return id == FUTEX || id == FUTEX_WAITV || id == FUTEX_WAIT_2;
}

/* FUTEX has operations that wait and others; op is its second argument. */
static bool waits(long id, u64 op)
{
	enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, COMMAND = 0x7f };

	op &= COMMAND;
	return id != FUTEX || op == WAIT || op == WAIT_BITSET || op == LOCK_PI || op == LOCK_PI2 || op == WAIT_REQUEUE_PI;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long id)
{
	struct thread *t = current_thread();

	if (!t)
		return 0;
	t->counts.syscalls++;
	if (is_futex(id) && waits(id, regs->si)) {
		t->in_futex = true;
		t->waits_since = bpf_ktime_get_ns();
		t->counts.futex_waits++;
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave, struct pt_regs *regs)
{
	struct thread *t;

	if (!is_futex(regs->orig_ax)) /* most calls by far: they are not worth a look-up */
		return 0;
	t = current_thread();
	if (t && t->in_futex) {
		t->in_futex = false;
		t->counts.futex_time += bpf_ktime_get_ns() - t->waits_since;
	}
	return 0;
}
