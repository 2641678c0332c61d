// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package sockdiag asks the kernel about TCP sockets of this host, by sock_diag(7). It finds out who owns a socket, and whether
// the peer's host still answers. /proc/net/tcp has less information, and the kernel walks its whole table for each read.
//
// All functions may be called from any goroutine.
package sockdiag
