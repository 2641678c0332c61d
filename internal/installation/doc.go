// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package installation finds the files that were installed with the running program.
//
// It holds no state; all of it may be called from any goroutine.
package installation
