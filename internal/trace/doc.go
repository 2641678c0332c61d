// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package trace is the command tpsl trace: what the kernel does to ranks, live.
package trace
