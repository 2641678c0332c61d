// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package rdma looks after what the ranks of a host want of RDMA devices.
//
// Ranks say what they want in UCX's variables. Where the host cannot give it, UCX would tell each rank so in words that few
// understand, or let ranks wait for ever. A [Guard] judges what ranks want before they start, watches the ports by which they
// send while they run, and explains afterwards what was wrong with the ports of ranks that failed. Package ib knows the
// devices and UCX's variables.
//
// Check comes first and returns before the other methods are called.
package rdma
