// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package cpython finds the CPython that runs a program, and the libpython that can run it in the interpreter's place.
//
// [Find] follows a program as the kernel would: it may be the interpreter, a link to it as virtual environments have, a script whose
// first line names one, or a shim, which is a script by the name of an interpreter that starts the right one. A file is a CPython if it
// has or calls its main function.
//
// An interpreter that is not position-independent, as Debian's, cannot be loaded several times into one address space. But its
// library can, and lib/tpsl/python (host/python) is a main function for that. [Interpreter.Library] finds it.
//
// Only interpreters and shims are ever run, to ask them what they are: isolated from the user's settings of Python, without a terminal and
// within a time limit. The package holds no state; all of it may be called from any goroutine.
package cpython
