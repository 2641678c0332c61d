// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package tpslmsg is the C interface to the message engine: include/tpslmsg.h, which says what the functions do.
// cmd/libtpslmsg makes the library of it.
//
// A call goes through two layers. calls.c has the functions of the header. It refuses what needs no Go to be refused,
// passes the time of a thread that waits, and keeps the text of its error. Below it Go has jobs and ports, by their
// numbers: a number is never used twice, so that a handle of a job that has ended is found out.
//
// The engine keeps the addresses of the program's buffers while operations are under way. They are not of Go's
// memory, and the collector leaves them alone. Nothing of Go's memory is handed out.
//
// Invariant: while a job is being ended nobody is in a call of its ports. Each call says that it is in its port
// before it looks whether the job ends; who ends the job looks for calls after it has said so.
package tpslmsg
