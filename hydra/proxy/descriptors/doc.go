// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package descriptors is the contract about the descriptors of a rank set's process.
//
// The process inherits its standard streams, a PMI session for each rank, a pipe for lines about itself (package control),
// and in private mode the streams of its other ranks. A [Layout] says which of them there are and which number each has; it
// opens them, counts them, and writes the variables that tell the process of them: PMI_FD, TPSL_STDIO and TPSL_CONTROL_FD.
// What reads these is package process/rankset.
//
// A Layout is a plain value. A Set is used by one goroutine at a time.
package descriptors
