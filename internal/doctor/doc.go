// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package doctor looks at a machine and an installation, and says what would keep
// threads from being MPI ranks there.
//
// [Look] gathers facts: it reads files and runs two small programs, and judges
// nothing. [Judge] turns facts into findings and touches nothing. A [Report] is both;
// it is printed as text, or as one JSON document whose field names stay.
//
// The facts are those of the process that looks: its environment, limits, mount
// points. A job in a container or a batch system has others; run it there.
//
// What is not safe: the figures of ranks per process are estimates, from what MPICH
// over UCX takes; see package limits. libtpsl itself counts before the first rank. With
// less than about 600 MiB of address space no Go program starts, this one neither.
//
// All functions may be called from any goroutine.
package doctor
