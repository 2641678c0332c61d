// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package process is what the two modes have in common in a process that ranks live in:
// shared mode, whose ranks are threads (package tpsl), and private mode, whose ranks are
// processes that share one address space (package host).
//
// It has the job as the launcher describes it ([NewJob], struct tpsl_job in process.h),
// what instances are made of in both modes ([Config]), and in C the lines to the launcher,
// the CPUs of ranks, the end by an error, the handler of faults with its report, and the
// census for readers outside the process. Package rankset reads what the launcher says,
// package limits what the system allows.
//
// It lies above package loader, which knows nothing of ranks, and below tpsl and host,
// which do not know each other.
package process
