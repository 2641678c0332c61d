// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package spin has a lock of four bytes for a few instructions' work on data that
// threads rarely want at the same time.
//
// The holder must not block, switch or call out. Waiters read the word a bounded
// number of times, then let others run, so that a holder without a CPU gets one.
// Threads that wait are served in no order.
package spin
