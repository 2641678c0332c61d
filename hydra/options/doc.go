// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package options reads what mpiexec is asked to do: its command line, a configuration file and the environment.
//
// The options are tables (options_*.go), which both parsing and help follow. The first source that says something counts:
// the command line, the line of a program in a configuration file, the file's lines for all programs, the environment. What
// is read becomes a [plan.Request], which says nothing of how it was spelled.
//
// [Parse] reads files and nothing else of the system; it takes the environment as a function.
package options
