// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package globals lists the writable global and static variables of a program or library, as a programmer knows them:
// by their names in C, C++ or Fortran and, where there is debug information, by file and line.
//
// [Read] goes by the symbol table of the file and reads nothing else of it but relocations and debug information. It
// leaves out what cannot be written once the file is loaded, thread-local variables, and the variables of the compiler
// and its libraries.
//
// Debug information and symbols may be in a separate file, where gdb would look for it. A stripped file without one has
// no symbols of static variables, so these are not seen.
//
// All functions may be called from any goroutine.
package globals
