// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"fmt"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/cpython"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/loader/search"
)

// A python is how private ranks run a program that CPython runs. It is empty for all others.
type python struct {
	file     string   // the program that each rank has a copy of: the interpreter, or lib/tpsl/python in its place
	args     []string // what its arguments begin with, in place of the program's name
	settings []string // the variable that lib/tpsl/python reads
}

// pythonOf finds out whether CPython runs the program, if a process is to have several private ranks. An error says why they cannot run it.
func pythonOf(path string, program plan.Program) (p python, err error) {
	if program.PerProcess == 1 || program.Mode == plan.ModeShared {
		return p, nil
	}
	look := func(name string) (string, error) { return LookPath(name, "", program.Env, program.Wdir) }
	interpreter, err := cpython.Find(path, program.Args[0], cpython.Place{Env: program.Env, Dir: program.Wdir, Look: look})
	if err != nil || interpreter == nil {
		return p, err
	}
	p = python{file: interpreter.Path, args: interpreter.Args}
	if !interpreter.Fixed {
		return p, nil
	}
	if p.file, err = installation.File(cpython.Program); err != nil {
		return p, fmt.Errorf("-rpp %d needs a Python that is position-independent: %w; install tpsl anew", program.PerProcess, err)
	}
	libraryPath, _ := plan.Getenv(program.Env, "LD_LIBRARY_PATH")
	library, err := interpreter.Library(search.New(libraryPath).In(program.Wdir))
	p.settings = []string{cpython.Variable + "=" + library}
	return p, err
}
