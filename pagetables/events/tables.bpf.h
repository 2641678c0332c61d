/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

/*
 * What is counted, and the tables that it stands in.
 *
 * `threads` is the paper's in-kernel table: which thread is whose. A thread that is not in it costs
 * one look-up an event. A thread's counters stand in its own entry, to which one CPU at a time adds,
 * that which the thread is on, leaves or comes to: so these are plain additions. They join those of
 * its owner in `ended` when it exits, so that nothing is lost and a number that is used again begins
 * at nothing.
 */
#pragma once

#include "kernel.bpf.h"

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
	u64 moved;                        /* 1: to another CPU, since it ran last */
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
