// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// share decides how the ranks of a set share a process. That follows from the user's mode and from the libraries that ld.so
// would load for the program. An error says why the ranks cannot share one.
func share(path string, program plan.Program) (s sharing, err error) {
	shared := program.Mode == plan.ModeShared
	if program.PerProcess == 1 && !shared {
		return s, nil
	}
	libraryPath, _ := plan.Getenv(program.Env, "LD_LIBRARY_PATH")
	libraries := search.New(libraryPath).In(program.Wdir)
	closure, err := libraries.Closure(path)
	if errors.Is(err, image.ErrNotELF) || errors.Is(err, image.ErrTruncated) {
		if shared {
			s.standIn, err = finding(program.Env)
			return s, err
		}
		return s, fmt.Errorf("-rpp %d needs an ELF program, which this is not; use -tpsl shared if it starts one, or -rpp 1", program.PerProcess)
	}
	if err != nil {
		return s, err
	}
	defer closure.Close()
	linked := func(name string) bool { return closure.Find(name) != nil }
	withMPI := slices.ContainsFunc(soname.MPI, linked)
	switch {
	case program.Mode == plan.ModePrivate && linked(soname.Libtpsl):
		return s, fmt.Errorf("-tpsl private is for flat programs, but this one is linked with libtpsl; use -tpsl shared")
	case program.Mode == plan.ModePrivate:
		return private(closure, program, libraries)
	case linked(soname.Libtpsl):
		return s, nil
	case shared && withMPI:
		s.standIn, err = preloading(program.Env)
		return s, err
	case shared:
		s.standIn, err = finding(program.Env)
		return s, err
	case withMPI:
		return private(closure, program, libraries)
	}
	return s, fmt.Errorf("-rpp %d needs a program linked with libtpsl or with an MPICH library; "+
		"relink it with tpslcc, use -tpsl private if it loads MPICH later, or -rpp 1", program.PerProcess)
}

// preloading returns the variable that makes ld.so load the stand-ins before the program's own libraries, so that an RPATH
// of the program does not matter. What the user preloads stays first: these are tools in front of MPI.
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

// finding returns the variable that makes ld.so find the stand-ins first. It is for a script that starts the MPI program,
// and for a program that opens the MPI library later. A preload would load libtpsl into every program that a script starts.
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
		file, err := installation.File(name)
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
