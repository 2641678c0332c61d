// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package executable finds out what a program of the plan is on this host: its file, its MPI library, and how its ranks share
// a process.
//
// Ranks share a process in one of two modes. In shared mode the program is an ordinary process whose threads claim ranks: it
// is linked with libtpsl, or ld.so is made to give it a stand-in for its MPI library. In private mode a host process (package
// host, lib/tpsl/host) loads a copy of the program for each rank. The libraries that ld.so would load for the program decide
// the mode, unless the user chooses it.
//
// Programs are read and never run, but interpreters of Python that are not position-independent, and shims of them: these are asked for their
// library (package cpython). A program that cannot run in the chosen mode is refused with a line that names the remedy.
package executable
