// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// IsOverLibtpsl reports whether the program is linked with libtpsl, which loads the MPI library of its ranks itself.
func IsOverLibtpsl(path string, program plan.Program) bool {
	libraryPath, _ := plan.Getenv(program.Env, "LD_LIBRARY_PATH")
	closure, err := search.New(libraryPath).In(program.Wdir).Closure(path)
	if err != nil {
		return false
	}
	defer closure.Close()
	return closure.Find(soname.Libtpsl) != nil
}

// share decides how the ranks of a set share a process. That follows from the user's mode and from the libraries that ld.so
// would load for the program. Python opens an MPI library later, if at all. An error says why the ranks cannot share one.
func share(path string, program plan.Program, isPython bool) (s sharing, err error) {
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
		return s, fmt.Errorf("-rpp %d needs an ELF program or one of Python, which this is not; use -tpsl shared if it starts one, or -rpp 1", program.PerProcess)
	}
	if err != nil {
		return s, err
	}
	defer closure.Close()
	linked := func(name string) bool { return closure.Find(name) != nil }
	switch {
	case program.Mode == plan.ModePrivate && linked(soname.Libtpsl):
		return s, fmt.Errorf("-tpsl private is for flat programs, but this one is linked with libtpsl; use -tpsl shared")
	case program.Mode == plan.ModePrivate:
		return private(closure, program, libraries)
	case linked(soname.Libtpsl):
		return s, nil
	case shared && linked(soname.StandardABI):
		s.standIn, err = preloading(program.Env, soname.StandardABI)
		return s, err
	case shared && slices.ContainsFunc(soname.MPI, linked):
		s.standIn, err = preloading(program.Env, soname.MPI...)
		return s, err
	case shared:
		s.standIn, err = finding(program.Env)
		return s, err
	case isPython || slices.ContainsFunc(soname.Flat, linked):
		return private(closure, program, libraries)
	}
	return s, fmt.Errorf("-rpp %d needs a program linked with libtpsl, MPICH or Open MPI; "+
		"relink it with tpslcc, use -tpsl private if it loads its MPI library later, or -rpp 1", program.PerProcess)
}
