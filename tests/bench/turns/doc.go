// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package turns runs the sides of comparisons, which are commands, in turns: every side once
// in each turn, so that a change of the machine's mood meets all.
//
// A side prints Go benchmark lines, or is a job whose time is measured. What was printed goes
// to a raw file, see package results. A side that fails, hangs or answers wrongly is not run
// again, and a note tells it. Sides that run different MPI libraries are not compared.
//
// A Session is used by one goroutine.
package turns
