// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package events counts, live and by rank, what the kernel does to a job's threads: system calls,
// context switches, migrations, time off the CPU, futex waits, and page faults by kind and by file.
//
// A [Kernel] counts in the kernel, by BPF programs on tracepoints; it needs CAP_BPF and CAP_PERFMON. What can
// be had without privilege is read from /proc by [Proc]: its Absent names the others.
//
// A Kernel is for one goroutine.
package events

//go:generate go tool bpf2go -tags linux -target amd64 -cflags "-O2 -g -Wall -Werror -I/usr/include/x86_64-linux-gnu" -type counts -type thread -type fault_counts -type fault_key -type object kernel events.bpf.c
