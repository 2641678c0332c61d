/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

/* Which thread is which. */
#pragma once

#include "kernel.bpf.h"

/* The number that a thread has in the namespace of another thread; 0: it has none there. */
static int number_seen_by(struct task_struct *viewer, struct task_struct *task)
{
	struct pid *pid = task->thread_pid, *view = viewer->thread_pid;
	struct upid ours, theirs;
	unsigned offset;

	if (!pid || !view || pid->level < view->level)
		return 0;
	offset = bpf_core_field_offset(struct pid, numbers) + view->level * bpf_core_type_size(struct upid);
	if (bpf_probe_read_kernel(&theirs, sizeof theirs, (char *)view + offset) ||
	    bpf_probe_read_kernel(&ours, sizeof ours, (char *)pid + offset) || ours.ns != theirs.ns)
		return 0;
	return ours.nr;
}

/*
 * The kernel counts threads by its own numbers; who reads this may know them by those of a
 * namespace. It gets both of each thread, and whether it sleeps.
 */
SEC("iter/task")
int tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct { int seen, own, asleep; } line;

	if (!task)
		return 0;
	line.seen = number_seen_by(bpf_get_current_task_btf(), task);
	line.own = task->pid;
	line.asleep = task->__state != 0;
	if (line.seen)
		bpf_seq_write(ctx->meta->seq, &line, sizeof line);
	return 0;
}
