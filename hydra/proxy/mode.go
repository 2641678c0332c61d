// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/hydra"
)

// sharedLibrary is what a program needs whose threads claim slots.
const sharedLibrary = "libtpsl.so.0"

// checkShared refuses a program whose ranks cannot share a process.
func checkShared(path string, program hydra.Program) error {
	advice := fmt.Sprintf("-rpp %d needs a program linked with libtpsl", program.PerProcess)
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s, but this is not an ELF program; use -tpsl shared if it starts one, or -rpp 1", advice)
	}
	defer file.Close()
	needed, err := file.ImportedLibraries()
	if err == nil && slices.Contains(needed, sharedLibrary) {
		return nil
	}
	return fmt.Errorf("%s; relink it with tpslcc, or use -rpp 1", advice)
}
