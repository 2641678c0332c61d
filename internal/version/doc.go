// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package version says which version of tpsl this is.
package version

// Version is that of the release; the Makefile sets it in every command.
var Version = "devel"
