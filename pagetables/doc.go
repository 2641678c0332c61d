// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package pagetables says what the kernel really did for the ranks of a process: which
// pages each of them has to itself, which they share, and what maps them.
//
// A mapping is an entry of /proc/PID/smaps. An owner is who a page is there for: a rank,
// a copy of libraries that the program opened, what is placed once, or the process, which
// has all the rest. A span is a part of the address space that has an owner other than the
// process; package loader's census tells the spans, read out of the process's memory. A
// row sums the pages of one owner, object and segment. The sum of all rows is what
// smaps_rollup says, to the page, if the process stood still.
//
// What is read changes while it is read. Nothing read is trusted: lengths, chains and
// numbers have limits, and what cannot be is left out and noted in Process.Partial.
// Memory does not grow with the number of mappings, but with that of rows.
//
// Functions may be called by several goroutines at once.
package pagetables
