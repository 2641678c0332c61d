// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import "errors"

// What callers of Open and Parse branch on.
var (
	ErrNotELF    = errors.New("not an ELF file")
	ErrMachine   = errors.New("not for x86-64")
	ErrType      = errors.New("neither ET_DYN nor ET_EXEC")
	ErrTruncated = errors.New("file too short")
)

// errOutside is the answer for a table that no segment holds.
var errOutside = errors.New("outside the loaded segments")
