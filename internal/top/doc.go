// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package top is the command tpsl top: what the ranks of a job do and use, live.
//
// A history keeps what mpiexec has told over the last seconds, and makes rates of its counts. A table turns these into rows, which it
// groups, filters and sorts, and into lines that fit a width. A view shows them in a terminal; elsewhere they are printed.
package top
