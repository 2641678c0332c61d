// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/cpython"
)

// An Executable is a program as it runs on this host.
type Executable struct {
	Path    string // of the program; where that is Python's, of the interpreter that each rank has a copy of
	Library Library
	Opens   bool // it is an interpreter of Python, which does not tell beforehand which MPI library it opens, if any
	PMIx    bool // its ranks are served by PMIx in place of PMI
	python
	sharing
}

// A sharing is how the ranks of a set share a process.
type sharing struct {
	standIn     []string // settings by which ld.so gives the program a stand-in for its MPI library
	privateHost string   // the program that loads a copy of it per rank; "" where it is the process itself
	tools       []string // what the user preloads, of which the private host gives each rank a copy
	heaps       []string // what ld.so preloads for the process of the private host, one for all ranks
}

// Find finds a program of the host and how its ranks share a process. An error says why they cannot run.
func Find(host plan.Host, program plan.Program) (e Executable, err error) {
	if err := unix.Access(program.Wdir+"/.", unix.X_OK); err != nil { // of a file that can be executed, too
		return e, fmt.Errorf("working directory %s: %w", program.Wdir, err)
	}
	if e.Path, err = LookPath(program.Args[0], program.Path, program.Env, program.Wdir); err != nil {
		return e, err
	}
	if e.python, err = pythonOf(e.Path, program); err != nil {
		return e, err
	}
	if e.python.file != "" {
		e.Path = e.python.file
	}
	e.Library = libraryOf(e.Path, program)
	e.Opens = e.Library == Library{} && cpython.Is(e.Path)
	if err = e.servePMIx(host); err != nil {
		return e, err
	}
	if e.sharing, err = share(e.Path, program, e.python.file != ""); err != nil {
		return e, err
	}
	return e, e.refuseThreads(host, program)
}

// IsPrivate reports whether the set has private mode: each rank is a process of its own, with a copy of the program.
func (s sharing) IsPrivate() bool { return s.privateHost != "" }

// HasStandIn reports whether ld.so gives the program a stand-in for its MPI library.
func (s sharing) HasStandIn() bool { return s.standIn != nil }

// Settings returns the variables that the mode and Python need.
func (e Executable) Settings() []string {
	settings := slices.Concat(e.standIn, e.python.settings)
	if len(e.tools)+len(e.heaps) == 0 {
		return settings
	}
	return append(settings, "TPSL_TOOLS="+strings.Join(e.tools, ":"), "LD_PRELOAD="+strings.Join(e.heaps, ":"))
}

// Command returns the file to execute for the program with these arguments, and its own arguments.
func (e Executable) Command(args []string) (file string, argv []string) {
	if !e.IsPrivate() {
		return e.Path, args
	}
	if e.python.args != nil {
		args = slices.Concat(e.python.args, args[1:])
	}
	return e.privateHost, slices.Concat([]string{e.privateHost, e.Path}, args)
}
