// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// sharedLibrary is what a program needs whose threads claim slots.
const sharedLibrary = "libtpsl.so.0"

// checkShared refuses a program whose ranks cannot share a process, by the libraries that ld.so would load for it.
func checkShared(path string, program hydra.Program) error {
	advice := fmt.Sprintf("-rpp %d needs a program linked with libtpsl", program.PerProcess)
	libraryPath, _ := hydra.Getenv(program.Env, "LD_LIBRARY_PATH")
	closure, err := search.New(libraryPath).Closure(path)
	switch {
	case errors.Is(err, image.ErrNotELF) || errors.Is(err, image.ErrTruncated):
		return fmt.Errorf("%s, but this is not an ELF program; use -tpsl shared if it starts one, or -rpp 1", advice)
	case err != nil:
		return err
	}
	defer closure.Close()
	if closure.Find(sharedLibrary) == nil {
		return fmt.Errorf("%s; relink it with tpslcc, or use -rpp 1", advice)
	}
	return nil
}
