// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package rdma checks whether the ranks of a host can have the RDMA devices that they ask for.
//
// Ranks ask for devices in UCX's variables. If the host does not have them, UCX prints a message in each rank that few users
// understand, or ranks wait for ever. A [Guard] checks the request before ranks start. While they run, it watches the ports by
// which they send. Afterwards it explains what was wrong with the ports of ranks that failed. Package ib knows the devices and
// UCX's variables.
//
// Call Check first. It must return before other methods are called.
package rdma
