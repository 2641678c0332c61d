// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package importlib makes the libraries that programs are linked with, from the MPI
// library of this machine.
//
// libtpsl has the names of several versions of MPI libraries. A program must be linked
// with no more names than its MPI library has: a configure script that tries to link a
// function would find it, and the program would end when it calls it. So the linker gets
// an import library in libtpsl's place. It has libtpsl's SONAME and no code. Its names
// are those of libtpsl, without what the MPI library lacks.
//
// The MPI library may also be newer than libtpsl, and have functions that libtpsl has no
// name for. The Fortran library beside it refers to such functions. The stand-ins, which
// are in each process, have stubs for them. These lead to stubs of libtpsl that have no
// names.
//
// Each ABI has an import library and stand-ins of its own. The command "tpsl names" makes
// them, and so does make.
package importlib
