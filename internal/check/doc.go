// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package check tells what the loader would do with a library or program.
//
// [File] reads the file and its closure and returns a [Report]: a row per object with
// its placement and the rule that says so, sizes, relocations, thread-local storage,
// constructors and what is rebound; what is refused, and how to mend it; for a program
// the modes that it can run in, and the variables that its ranks would share as
// threads. A report is printed as text, or as one JSON document whose field names stay.
//
// It judges by the plan that libtpsl would make, in the environment of the process that
// looks (TPSL_POLICY, TPSL_PRIVATE, TPSL_MPI_LIBRARY, LD_LIBRARY_PATH). Nothing is loaded, and
// nothing but a Python is run, to ask for its version.
//
// What is not seen: libraries that are opened by dlopen, such as UCX's plugins. Check them
// by their own names.
//
// All functions may be called from any goroutine.
package check
