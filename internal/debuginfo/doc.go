// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package debuginfo names what is at an address of an ELF file: the function, and the source
// file and line if there is debugging information. That may be in the file itself or in a
// separate file, as distributions ship it.
package debuginfo
