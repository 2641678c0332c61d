// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// sharedLibrary is what a program needs whose threads claim slots.
const sharedLibrary = "libtpsl.so.0"

// mpiLibraries are the names of a library with the MPICH ABI. Each has a stand-in, which makes a program that was linked
// with the real one call libtpsl.
var mpiLibraries = []string{"libmpich.so.12", "libmpi.so.12"}

// share returns what must be preloaded into a program so that its ranks can share a process, and refuses a program whose
// ranks cannot, by the libraries that ld.so would load for it.
func share(path string, program hydra.Program) (preload []string, err error) {
	shared := program.Mode == hydra.ModeShared
	if program.PerProcess == 1 && !shared {
		return nil, nil
	}
	advice := fmt.Sprintf("-rpp %d needs a program linked with libtpsl", program.PerProcess)
	libraryPath, _ := hydra.Getenv(program.Env, "LD_LIBRARY_PATH")
	closure, err := search.New(libraryPath).Closure(path)
	switch {
	case errors.Is(err, image.ErrNotELF) || errors.Is(err, image.ErrTruncated):
		if shared {
			return nil, nil
		}
		return nil, fmt.Errorf("%s, but this is not an ELF program; use -tpsl shared if it starts one, or -rpp 1", advice)
	case err != nil:
		return nil, err
	}
	defer closure.Close()
	linked := func(name string) bool { return closure.Find(name) != nil }
	switch {
	case linked(sharedLibrary):
		return nil, nil
	case !shared:
		return nil, fmt.Errorf("%s; relink it with tpslcc, use -tpsl shared if its threads call MPI_Init, or -rpp 1", advice)
	case slices.ContainsFunc(mpiLibraries, linked):
		return standIns()
	}
	return nil, nil
}

// standIns returns the files of the stand-ins, in the installation that mpiexec is of.
func standIns() (files []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, name := range mpiLibraries {
		file := filepath.Join(filepath.Dir(filepath.Dir(self)), "lib", "tpsl", name)
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("-tpsl shared needs a stand-in for the program's MPI library: %w; install tpsl anew", err)
		}
		files = append(files, file)
	}
	return files, nil
}
