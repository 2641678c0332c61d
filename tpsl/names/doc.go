// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package names lists what the MPI libraries that libtpsl stands for export.
//
// mpich.names holds their functions. A line is one stub of libtpsl: the version of
// MPICH that brought the names, and the names. These share an address in every
// version that is listed, as MPI_Send and PMPI_Send do. [Data] holds the variables
// that programs can see. Both are only ever added to, see docs/abi.md.
//
// The list is the union of several versions of MPICH and of the standard ABI. So each
// library lacks some of the names, and a newer one may have others: [Compare] tells.
//
// All functions may be called from any goroutine.
package names
