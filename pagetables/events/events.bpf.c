/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 */

//go:build ignore

/*
 * events.bpf.c: counts, in the kernel, what it does to the threads of ranks. What it has:
 *
 *   kernel.bpf.h     the kernel's structures
 *   tables.bpf.h     which thread is whose, and what is counted
 *   syscalls.bpf.h, switches.bpf.h, faults.bpf.h   the programs that count, each at tracepoints
 *   tasks.bpf.h      a list of all threads
 */

#include "faults.bpf.h"
#include "switches.bpf.h"
#include "syscalls.bpf.h"
#include "tasks.bpf.h"

char licensed[] SEC("license") = "GPL"; /* helpers used here ask for it; hence these files' two licences */
