// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package ib lists the NICs of a host, which are network interfaces and ports of RDMA
// devices, and shares them out to ranks.
//
// A rail is a NIC that ranks send by. Rails gives each rank one that is near its CPUs,
// so that ranks of one process, whose instances of the MPI library have an environment
// each, drive different ones.
//
// Contexts tells what programs have made of RDMA devices, and Share how many queue pairs
// a node has by published formulae.
//
// Interfaces, devices and contexts are those of the caller's network namespace, by
// netlink. What netlink does not tell is read from /sys, through an fs.FS, so that trees
// of other machines serve as well; /sys shows the network namespace that it was mounted
// in. All of it only reads; any thread may call it.
package ib
