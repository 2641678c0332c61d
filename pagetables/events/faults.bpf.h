/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

/* Page faults, by what they find and in which file. */
#pragma once

#include "tables.bpf.h"

static long object_of(struct task_struct *task, struct vm_area_struct *vma, void *found)
{
	struct file *file = vma->vm_file;
	struct object key = {};
	u32 *number;

	if (!file) {
		*(u32 *)found = ANONYMOUS;
		return 0;
	}
	key.inode = BPF_CORE_READ(file, f_inode, i_ino);
	key.device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	number = bpf_map_lookup_elem(&objects, &key);
	*(u32 *)found = number ? *number : OTHER_FILE;
	return 0;
}

static void count_fault(struct thread *t, unsigned long address, unsigned long error)
{
	enum { PRESENT = 1, WRITE = 2, FETCH = 16 };
	static const struct fault_counts none;
	struct fault_key key = { .owner = t->owner, .object = ANONYMOUS };
	struct fault_counts *f;

	if (bpf_find_vma(bpf_get_current_task_btf(), address, object_of, &key.object, 0))
		key.object = UNKNOWN;
	f = bpf_map_lookup_elem(&faults, &key);
	if (!f) {
		bpf_map_update_elem(&faults, &key, &none, BPF_NOEXIST);
		f = bpf_map_lookup_elem(&faults, &key);
	}
	if (!f) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	if (error & FETCH)
		__sync_fetch_and_add(&f->fetches, 1);
	else if (!(error & WRITE))
		__sync_fetch_and_add(&f->reads, 1);
	else if (error & PRESENT)
		__sync_fetch_and_add(&f->copies, 1);
	else
		__sync_fetch_and_add(&f->writes, 1);
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(fault_user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct thread *t = current_thread();

	if (t) {
		t->counts.faults_user++;
		count_fault(t, address, error);
	}
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct thread *t = current_thread();

	if (t) {
		t->counts.faults_kernel++;
		count_fault(t, address, error);
	}
	return 0;
}
