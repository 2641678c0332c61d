// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package options reads what mpiexec is asked to do: its command line, a configuration file and the environment.
//
// The options are tables (options_*.go), which both the parser and the help use. If several sources give the same option, the
// first of these counts: the command line, the line of a program in a configuration file, the file's lines for all programs,
// the environment. The result is a [plan.Request], which does not depend on how the options were written.
//
// [Parse] reads files and nothing else of the system; it takes the environment as a function.
package options
