/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

/* On which CPU threads are, and when; their beginning and their end. */
#pragma once

#include "tables.bpf.h"

SEC("tp_btf/sched_switch")
int BPF_PROG(change, bool preempted, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	int tid = prev->pid;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (t) {
		t->left = bpf_ktime_get_ns();
		if (!preempted && state)
			t->counts.voluntary++;
		else
			t->counts.involuntary++;
	}
	tid = next->pid;
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t)
		return 0;
	if (t->left) {
		t->counts.off_cpu += bpf_ktime_get_ns() - t->left;
		t->left = 0;
	}
	t->counts.migrations += t->moved;
	t->moved = 0;
	return 0;
}

/* A thread that waits for a CPU may be moved again and again. It counts once, when it runs, as for perf. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(migrate, struct task_struct *p)
{
	int tid = p->pid;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (t)
		t->moved = 1;
	return 0;
}

/* A thread's threads are its owner's. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(begin, struct task_struct *parent, struct task_struct *child)
{
	int tid = parent->pid, new = child->pid;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (t && child->tgid == parent->tgid) {
		struct thread fresh = { .owner = t->owner };

		if (bpf_map_update_elem(&threads, &new, &fresh, BPF_ANY))
			__sync_fetch_and_add(&lost, 1);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(end, struct task_struct *p)
{
	static const struct counts none;
	int tid = p->pid;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	struct counts *sum;

	if (!t)
		return 0;
	int owner = t->owner;

	bpf_map_update_elem(&ended, &owner, &none, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&ended, &owner);
	if (sum) {
		const u64 *from = (const u64 *)&t->counts;
		u64 *to = (u64 *)sum;

#pragma unroll
		for (unsigned i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			__sync_fetch_and_add(&to[i], from[i]);
	} else {
		__sync_fetch_and_add(&lost, 1);
	}
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}
