// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package control reads the lines that the process of a rank set writes about itself.
//
// A launcher sees a process, and over PMI its ranks, but not what happens to a rank inside the process: which one has
// crashed, or which process a rank of private mode is. It gives the process a pipe (TPSL_CONTROL_FD) for that. The writers
// are in C: libtpsl, the host of private ranks, and the witness library. The formats of their lines are in lines.go, and
// TestFormatsAreThoseOfC fails when one side changes without the other.
//
// Not safe: whoever has the pipe may write what it likes. Lines about ranks that are not in the set are dropped.
//
// All of it may be called from any goroutine.
package control
