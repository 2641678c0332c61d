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

// A way is how the ranks of a set share a process.
type way struct {
	preload []string // files that ld.so is to load before the program's libraries, after the user's
	host    string   // the executable that runs a copy of the program per rank; "" the program is the process
	tools   []string // of LD_PRELOAD, what the host gives each rank a copy of
	others  []string // of LD_PRELOAD, what stays with the host's process
}

// share decides how the ranks of a set share a process, by the libraries that ld.so would load for the program, and
// refuses a program whose ranks cannot.
func share(path string, program hydra.Program) (way, error) {
	if program.PerProcess == 1 && program.Mode != hydra.ModeShared {
		return way{}, nil
	}
	libraryPath, _ := hydra.Getenv(program.Env, "LD_LIBRARY_PATH")
	libraries := search.New(libraryPath)
	closure, err := libraries.Closure(path)
	if errors.Is(err, image.ErrNotELF) || errors.Is(err, image.ErrTruncated) {
		if program.Mode == hydra.ModeShared {
			return way{}, nil
		}
		return way{}, fmt.Errorf("-rpp %d needs an ELF program, which this is not; use -tpsl shared if it starts one, or -rpp 1", program.PerProcess)
	}
	if err != nil {
		return way{}, err
	}
	defer closure.Close()
	linked := func(name string) bool { return closure.Find(name) != nil }
	withMPI := slices.ContainsFunc(mpiLibraries, linked)
	switch {
	case program.Mode == hydra.ModePrivate && linked(sharedLibrary):
		return way{}, fmt.Errorf("-tpsl private is for flat programs, but this one is linked with libtpsl; use -tpsl shared")
	case program.Mode == hydra.ModePrivate:
		return private(closure.Objects[0], program, libraries)
	case linked(sharedLibrary):
		return way{}, nil
	case program.Mode == hydra.ModeShared && withMPI:
		files, err := standIns()
		return way{preload: files}, err
	case program.Mode == hydra.ModeShared:
		return way{}, nil
	case withMPI:
		return private(closure.Objects[0], program, libraries)
	}
	return way{}, fmt.Errorf("-rpp %d needs a program linked with libtpsl or with an MPICH library; "+
		"relink it with tpslcc, use -tpsl private if it loads MPICH later, or -rpp 1", program.PerProcess)
}

// standIns returns the files of the stand-ins.
func standIns() (files []string, err error) {
	for _, name := range mpiLibraries {
		file, err := installed(name)
		if err != nil {
			return nil, fmt.Errorf("-tpsl shared needs a stand-in for the program's MPI library: %w; install tpsl anew", err)
		}
		files = append(files, file)
	}
	return files, nil
}

// installed returns a file of lib/tpsl in the installation that mpiexec is of.
func installed(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(filepath.Dir(self)), "lib", "tpsl", name)
	_, err = os.Stat(file)
	return file, err
}
