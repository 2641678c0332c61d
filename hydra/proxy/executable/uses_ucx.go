// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// UsesUCX reports whether UCX's variables mean something to the program for certain, in an environment and a working directory.
// It is false for a script, as nobody knows what it starts, and for Open MPI, which has other ways besides UCX.
func (e Executable) UsesUCX(env []string, dir string) bool {
	if e.PMIx {
		return false
	}
	libraryPath, _ := plan.Getenv(env, "LD_LIBRARY_PATH")
	libraries := search.New(libraryPath).In(dir)
	closure, err := libraries.Closure(e.Path)
	if err != nil {
		return false
	}
	defer closure.Close()
	if closure.Find(soname.Libtpsl) == nil {
		return closure.Find(libucp) != nil
	}
	mpi, err := mpiLibrary(env, closure.Objects[0].Image, libraries)
	if err != nil {
		return false
	}
	theirs, err := libraries.Closure(mpi)
	if err != nil {
		return false
	}
	defer theirs.Close()
	return theirs.Find(libucp) != nil
}

const libucp = "libucp.so.0"

// mpiLibrary returns the MPI library that libtpsl will load for a program: that of TPSL_MPI_LIBRARY, else MPICH's.
func mpiLibrary(env []string, program *image.Image, libraries *search.Path) (file string, err error) {
	libraries = libraries.PassingOver(func(m *image.Image) bool { return m.Auxiliary == soname.Libtpsl })
	names := soname.MPI
	if asked, _ := plan.Getenv(env, "TPSL_MPI_LIBRARY"); asked != "" {
		names = []string{asked}
	}
	for _, name := range names {
		if file, err = libraries.Find(name, program); err == nil {
			return file, nil
		}
	}
	return "", err
}
