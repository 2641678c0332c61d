/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

//go:build ignore

/*
 * events.bpf.c: counts, in the kernel, what it does to the threads of ranks.
 *
 * `threads` is the paper's in-kernel table: which thread is whose. A thread that is not in it costs
 * one look-up an event. A thread's counters stand in its own entry and move by atomic additions, since
 * another CPU may move the thread; they join those of its owner in `ended` when it exits, so that
 * nothing is lost and a number that is used again begins at nothing.
 *
 * The kernel's structures are declared as far as they are read; their offsets come from the running
 * kernel's BTF when the program is loaded (CO-RE).
 */

#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u32 u32;
typedef __u64 u64;

char licensed[] SEC("license") = "GPL"; /* helpers used here ask for it; hence this file's two licences */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct super_block { u32 s_dev; };
struct inode { unsigned long i_ino; struct super_block *i_sb; };
struct file { struct inode *f_inode; };
struct vm_area_struct { struct file *vm_file; };
struct upid { int nr; void *ns; };
struct pid { u32 level; struct upid numbers[1]; };
struct task_struct { int pid, tgid; unsigned __state; struct pid *thread_pid; };
struct pt_regs { unsigned long si; };
struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };
#pragma clang attribute pop

/* What is counted, of a thread and of an owner. */
struct counts {
	u64 syscalls;
	u64 voluntary, involuntary, migrations;
	u64 off_cpu;                      /* ns, from leaving a CPU to being back on one */
	u64 futex_waits, futex_time;      /* calls that may wait; ns in them */
	u64 faults_user, faults_kernel;   /* page faults taken in the program; in a system call on its behalf */
};

struct thread {
	int owner;                        /* a rank, by a number that the reader of the maps gives it */
	u32 in_futex;
	u64 left;                         /* when it left the CPU; 0: it is on one, or that was not seen */
	u64 waits_since;
	struct counts counts;
};

struct object { u64 inode; u32 device, unused; };
struct fault_key { int owner; u32 object; };
/* Page faults by what the program did and found: a page that is there and may only be read is copied on write. */
struct fault_counts { u64 reads, writes, copies, fetches; };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, int);
	__type(value, struct counts);
} ended SEC(".maps");

/* The files that ranks map; each has a number behind these. */
enum { ANONYMOUS, OTHER_FILE, UNKNOWN /* the address space was locked, or nothing is there */ };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 13);
	__type(key, struct object);
	__type(value, u32);
} objects SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct fault_key);
	__type(value, struct fault_counts);
} faults SEC(".maps");

u64 lost; /* faults that found no room in `faults`, threads that found none in `threads` */

static struct thread *current_thread(void)
{
	int tid = (u32)bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(&threads, &tid);
}

static bool is_futex_wait(long id, u64 op)
{
	enum { FUTEX = 202, FUTEX_WAITV = 449, FUTEX_WAIT_2 = 455 };
	enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, COMMAND = 0x7f };

	if (id != FUTEX)
		return id == FUTEX_WAITV || id == FUTEX_WAIT_2;
	op &= COMMAND;
	return op == WAIT || op == WAIT_BITSET || op == LOCK_PI || op == LOCK_PI2 || op == WAIT_REQUEUE_PI;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter, struct pt_regs *regs, long id)
{
	struct thread *t = current_thread();

	if (!t)
		return 0;
	__sync_fetch_and_add(&t->counts.syscalls, 1);
	if (is_futex_wait(id, regs->si)) {
		t->in_futex = true;
		t->waits_since = bpf_ktime_get_ns();
		__sync_fetch_and_add(&t->counts.futex_waits, 1);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(leave)
{
	struct thread *t = current_thread();

	if (t && t->in_futex) {
		t->in_futex = false;
		__sync_fetch_and_add(&t->counts.futex_time, bpf_ktime_get_ns() - t->waits_since);
	}
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(change, bool preempted, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	int tid = prev->pid;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (t) {
		t->left = bpf_ktime_get_ns();
		__sync_fetch_and_add(!preempted && state ? &t->counts.voluntary : &t->counts.involuntary, 1);
	}
	tid = next->pid;
	t = bpf_map_lookup_elem(&threads, &tid);
	if (t && t->left) {
		__sync_fetch_and_add(&t->counts.off_cpu, bpf_ktime_get_ns() - t->left);
		t->left = 0;
	}
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(migrate, struct task_struct *p)
{
	int tid = p->pid;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	if (t)
		__sync_fetch_and_add(&t->counts.migrations, 1);
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
		__sync_fetch_and_add(&t->counts.faults_user, 1);
		count_fault(t, address, error);
	}
	return 0;
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(fault_kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct thread *t = current_thread();

	if (t) {
		__sync_fetch_and_add(&t->counts.faults_kernel, 1);
		count_fault(t, address, error);
	}
	return 0;
}

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
