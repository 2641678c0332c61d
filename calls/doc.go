// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package calls knows which MPI calls the ranks of a job are in, and says why they wait.
//
// A library in front of a rank's MPI library (calls/front) notes each call that can wait on a board: memory that the ranks of a host
// share with their proxy. A [Board] is the proxy's end of it. [Explain] says in sentences what the ranks of a job do, and whether they
// can go on.
package calls
