// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package spin has a lock of four bytes for a few instructions' work on data that
// threads rarely want at the same time.
//
// The holder must not block, switch or call out. Waiters read the word for a while,
// then let others run, so that a holder without a CPU gets one. They are served in no
// order: package locks has the locks that are fair.
package spin
