// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package greet is how the processes of a job prove to each other, on a new TCP connection, that
// they know the job's secret.
//
// Who dials says hello, and is challenged. Then each side says one thing of HalfSize bytes, which is
// its carrier's: how much has come, or where a queue pair is. Each of these has a proof. A stranger
// learns nothing but that somebody listens.
//
// A Talk is for one goroutine.
package greet
