// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// A way is how the ranks of a set share a process.
type way struct {
	settings []string // by which ld.so gives the program a stand-in for its MPI library
	host     string   // the executable that runs a copy of the program per rank; "" the program is the process
	tools    []string // what the user preloads, of which the host gives each rank a copy
	heaps    []string // what ld.so preloads for the host's process, one for all ranks
	pmix     bool     // its one rank is served by PMIx in place of PMI
	library  linkedMPI
}

// isPrivate reports whether each rank is a process of its own, with a copy of the program, in the address space of a host process.
func (w way) isPrivate() bool { return w.host != "" }

// share decides how the ranks of a set share a process, by the libraries that ld.so would load for the program, and
// refuses a program whose ranks cannot.
func share(path string, program plan.Program) (w way, err error) {
	shared := program.Mode == plan.ModeShared
	if program.PerProcess == 1 && !shared {
		return w, nil
	}
	libraryPath, _ := plan.Getenv(program.Env, "LD_LIBRARY_PATH")
	libraries := search.New(libraryPath).In(program.Wdir)
	closure, err := libraries.Closure(path)
	if errors.Is(err, image.ErrNotELF) || errors.Is(err, image.ErrTruncated) {
		if shared {
			w.settings, err = finding(program.Env)
			return w, err
		}
		return w, fmt.Errorf("-rpp %d needs an ELF program, which this is not; use -tpsl shared if it starts one, or -rpp 1", program.PerProcess)
	}
	if err != nil {
		return w, err
	}
	defer closure.Close()
	linked := func(name string) bool { return closure.Find(name) != nil }
	withMPI := slices.ContainsFunc(soname.MPI, linked)
	switch {
	case program.Mode == plan.ModePrivate && linked(soname.Libtpsl):
		return w, fmt.Errorf("-tpsl private is for flat programs, but this one is linked with libtpsl; use -tpsl shared")
	case program.Mode == plan.ModePrivate:
		return private(closure, program, libraries)
	case linked(soname.Libtpsl):
		return w, nil
	case shared && withMPI:
		w.settings, err = preloading(program.Env)
		return w, err
	case shared:
		w.settings, err = finding(program.Env)
		return w, err
	case withMPI:
		return private(closure, program, libraries)
	}
	return w, fmt.Errorf("-rpp %d needs a program linked with libtpsl or with an MPICH library; "+
		"relink it with tpslcc, use -tpsl private if it loads MPICH later, or -rpp 1", program.PerProcess)
}

// preloading has ld.so load the stand-ins before the program's own libraries: an RPATH of the program is no matter. The
// user's own, which are tools in front of MPI, stay first.
func preloading(env []string) ([]string, error) {
	folder, err := standIns()
	if err != nil {
		return nil, err
	}
	var files []string
	if theirs, _ := plan.Getenv(env, "LD_PRELOAD"); theirs != "" {
		files = append(files, theirs)
	}
	for _, name := range soname.MPI {
		files = append(files, filepath.Join(folder, name))
	}
	return []string{"LD_PRELOAD=" + strings.Join(files, ":")}, nil
}

// finding has ld.so find the stand-ins first, for a program that this one starts and a library that it opens. A preload
// would load libtpsl into every program of a script.
func finding(env []string) ([]string, error) {
	folder, err := standIns()
	if err != nil {
		return nil, err
	}
	if theirs, _ := plan.Getenv(env, "LD_LIBRARY_PATH"); theirs != "" {
		folder += ":" + theirs
	}
	return []string{"LD_LIBRARY_PATH=" + folder}, nil
}

// standIns returns the folder of the stand-ins.
func standIns() (folder string, err error) {
	for _, name := range soname.MPI {
		file, err := installed(name)
		if err != nil {
			return "", fmt.Errorf("-tpsl shared needs a stand-in for the program's MPI library: %w; install tpsl anew", err)
		}
		folder = filepath.Dir(file)
	}
	if strings.ContainsAny(folder, " :;") {
		return "", fmt.Errorf("-tpsl shared cannot name %q to ld.so, which cuts it at a space, colon or semicolon; install tpsl elsewhere", folder)
	}
	return folder, nil
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
