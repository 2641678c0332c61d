// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package sockdiag asks the kernel about TCP sockets of this host, by sock_diag(7): who owns one, and whether anything of
// the peer's host is still heard of. /proc/net/tcp says less, and the kernel walks its whole table for each reading of it.
//
// All functions may be called from any goroutine.
package sockdiag
