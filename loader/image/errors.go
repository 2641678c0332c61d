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

// RebuildPIE says how to build a program again that is not position-independent. Compilers of some distributions build such
// programs unless they are told otherwise.
const RebuildPIE = "rebuild it with -fPIE -pie (configure: CFLAGS=-fPIE CXXFLAGS=-fPIE FCFLAGS=-fPIE LDFLAGS=-pie; " +
	"CMake: -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_EXE_LINKER_FLAGS=-pie)"

// errOutside is the answer for a table that no segment holds.
var errOutside = errors.New("outside the loaded segments")
