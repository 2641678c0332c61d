// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs the whole system on a real MPI library: programs compiled
// with tpslcc, started by mpiexec, right and wrong ones.
//
// A job is one run of a launcher; a program that no launcher starts is a job of
// one rank. A fixture is a C program of testdata.
//
// It holds tests only. They run one after another: ranks busy-poll, and what a
// job leaves behind is looked for on the whole machine.
package e2e
