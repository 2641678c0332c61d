/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

/* The kernel's structures, as far as they are read. Their offsets come from the running
 * kernel's BTF when the program is loaded (CO-RE). */
#pragma once

#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u32 u32;
typedef __u64 u64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct super_block { u32 s_dev; };
struct inode { unsigned long i_ino; struct super_block *i_sb; };
struct file { struct inode *f_inode; };
struct vm_area_struct { struct file *vm_file; };
struct upid { int nr; void *ns; };
struct pid { u32 level; struct upid numbers[1]; };
struct task_struct { int pid, tgid; unsigned __state; struct pid *thread_pid; };
struct pt_regs { unsigned long si, orig_ax; };
struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };
#pragma clang attribute pop
