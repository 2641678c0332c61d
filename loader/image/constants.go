// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"debug/elf"
)

// HasConstant reports whether a text is among the constants of an ELF file, which are in its section .rodata. It is false for a file
// without that section, and for one that cannot be read.
func HasConstant(path, text string) bool {
	file, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	section := file.Section(".rodata")
	if section == nil {
		return false
	}
	constants, err := section.Data()
	return err == nil && bytes.Contains(constants, []byte(text))
}
