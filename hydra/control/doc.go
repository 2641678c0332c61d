// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package control reads the lines that the process of a rank set writes about itself.
//
// A launcher sees a process, and over PMI its ranks. It does not see which rank inside the process has crashed, or which
// process is a rank in private mode. So it gives the process a pipe (TPSL_CONTROL_FD) on which the process reports this. The
// writers are in C: libtpsl, the host of private ranks, and the witness library. The formats of their lines are in lines.go,
// and TestFormatsAreThoseOfC fails when one side changes without the other.
//
// Not safe: a process that has the pipe may write anything. Lines about ranks that are not in the set are dropped.
//
// All functions may be called from any goroutine.
package control
