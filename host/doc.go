// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package host runs an unmodified flat MPI program as several ranks of one address
// space: each rank is a process of its own, made by clone with CLONE_VM, with a private
// instance of the program and of all its libraries but libc.
//
// A rank has its own descriptors, directory, signals, threads and exit status from the
// kernel. What libc keeps once per address space, and a rank must have to itself, comes
// from the shim, a library that each instance has in front of libc (host/shim).
//
// The Go half plans, maps and relocates, in the host process only: rank processes never
// enter Go. docs/private-mode.md has the picture.
package host
