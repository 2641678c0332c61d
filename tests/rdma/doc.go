// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package rdma tests jobs over real verbs, between and inside emulated machines (package guest, and command run to run
// something there by hand). All tests share one boot of one guest and one of two. A test that changes a guest's devices puts
// them right again.
//
// It holds tests only.
package rdma
