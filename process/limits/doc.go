// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package limits knows what ranks take of a process's limits, and refuses what would
// fail half-way.
//
// The figures are per rank, measured and rounded up; what the program itself uses is
// counted when [Check] is called. They hold for one MPI library on one kind of network:
// another may take more and fail by itself, with its own words.
package limits
