// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package procs ends process families: every descendant of this process, wherever it has moved itself.
//
// It also removes the shared memory files that killed MPI ranks leave behind, and catches the signals that a launcher passes on
// to its ranks.
//
// A subreaper adopts the orphans among its descendants, so a process that has no child left has no descendant left.
// Only a process that owns all its children may sweep: children started elsewhere in the same process are ended too.
package procs
