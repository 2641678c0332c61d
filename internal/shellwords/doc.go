// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package shellwords cuts a line into words as a shell does, with quotes and backslashes.
//
// It holds no state; all of it may be called from any goroutine.
package shellwords
