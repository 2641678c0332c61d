// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package whereabouts lets a user ask a running mpiexec where the ranks of its job are and what they do.
//
// mpiexec listens on a Unix socket of the abstract namespace, whose name has its process id; it goes with the process. The kernel tells
// each side who the other is. A user is answered about jobs of that user only, and root about all.
//
// A question is a line with a JSON object, [Question], and so is its answer, [Answer]. Any number of questions may follow one another on a
// connection. Later versions keep the names of fields and may add new ones, so tpsl and mpiexec may be of different versions: a question
// that mpiexec does not know is answered with an error.
package whereabouts
