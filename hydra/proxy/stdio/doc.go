// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package stdio passes on what the ranks of a host read and write.
//
// An [Output] reads the pipes that ranks write to and takes whole lines, labelled as the user wants, to mpiexec or to files. It
// keeps the last lines of stderr, which tell why a rank has failed. An [Input] writes mpiexec's stdin to the ranks that
// read it, at the pace of the slowest. Both send no more than the windows of package channel allow, so that a slow reader
// stops the ranks and not mpiexec.
//
// Output and Input may be used from any goroutine.
package stdio
