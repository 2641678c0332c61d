// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package soname has the names that programs are linked with: that of libtpsl, those of MPI
// libraries with the MPICH ABI and with the standard ABI, by which libtpsl's stand-ins go
// too, and Open MPI's. They tell what a program wants. What a file is they do not tell:
// package mpilib judges that. It has the name of our library in front of an MPI library, too.
package soname

import "slices"

// Libtpsl is what a program needs whose threads claim slots.
const Libtpsl = "libtpsl.so.0"

// MPI are the names of an MPI library with the MPICH ABI, the first that is found wins:
// as Debian and MPICH builds with a wrapper prefix have it, and as everyone else does.
// The Makefile makes a stand-in for each.
var MPI = []string{"libmpich.so.12", "libmpi.so.12"}

// StandardABI is the name of an MPI library with the standard ABI, whoever made it (MPI 5.0, 20.2).
// The Makefile makes a stand-in for it.
const StandardABI = "libmpi_abi.so.1"

// StandIns are the names that libtpsl's stand-ins go by.
var StandIns = append(slices.Clone(MPI), StandardABI)

// OpenMPI are the names of Open MPI from version 2 on: the library for C, and those for
// Fortran that a program may be linked with alone.
var OpenMPI = []string{"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"}

// Flat are the names by which flat programs are linked with an MPI library.
var Flat = slices.Concat(StandIns, OpenMPI)

// Calls is the library that notes the MPI calls of a rank, in front of its MPI library. Profile counts them as well.
const (
	Calls   = "libtpslcalls.so"
	Profile = "libtpslprofile.so"
)
