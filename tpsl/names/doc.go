// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package names lists what the MPI libraries that libtpsl stands for export.
//
// mpich.names holds their functions. A line is one stub of libtpsl: the names on it
// share an address in MPICH, as MPI_Send and PMPI_Send do. [Data] holds the variables
// that programs can see. Both are only ever added to, see docs/abi.md.
//
// The lists are those of MPICH 4.0.2. A library may lack some of them, or have
// others: [Compare] tells.
//
// All functions may be called from any goroutine.
package names
