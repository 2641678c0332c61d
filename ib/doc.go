// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package ib lists the NICs of a host, which are network interfaces and ports of RDMA
// devices, and shares them out to ranks.
//
// A rail is a NIC that ranks send by. Rails gives each rank one that is near its CPUs,
// so that ranks of one process, whose instances of the MPI library have an environment
// each, drive different ones.
//
// Interfaces are those of the caller's network namespace. RDMA devices and speeds are
// read from /sys, through an fs.FS, so that trees of other machines serve as well; /sys
// shows the network namespace that it was mounted in. List only reads; any thread may
// call it.
package ib
