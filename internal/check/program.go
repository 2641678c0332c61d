// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/mpilib"
	sonames "github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/names"
)

// The modes of a program.
const (
	modeShared  = "shared"   // an ordinary process, whose threads claim slots
	modeStandIn = "stand-in" // the same, with libtpsl in place of the MPI library
	modePrivate = "private"  // loaded once per rank
)

// program looks at a program: in the first of its modes that it can run in.
func (l *looker) program(c *search.Closure) error {
	l.Modes = modes(c)
	if threaded(l.Modes) {
		l.shared(c)
	}
	i := slices.IndexFunc(l.Modes, func(m Mode) bool { return m.OK })
	if i >= 0 && l.Modes[i].Name == modePrivate {
		return l.private(c, "")
	}
	l.apart = sonames.StandIns
	if err := l.add(c, l.policies.Program, plan.Rule{Placement: plan.Shared, Where: "the program"}); err != nil || i < 0 {
		return err
	}
	own := slices.DeleteFunc(slices.Clone(l.Objects), func(o Object) bool { return o.Placement == plan.Shared.String() })
	p, err := l.mpiLibrary(c)
	if err != nil || p == nil {
		return err
	}
	if err := l.lacks(c); err != nil {
		return err
	}
	for _, o := range own {
		l.judge(p.Extend(o.Path, plan.Opening{}))
	}
	return nil
}

// lacks notes the functions of MPI that a program and its libraries refer to, and that the MPI library has not.
func (l *looker) lacks(c *search.Closure) error {
	library, err := image.Open(l.MPILibrary)
	if err != nil {
		return err
	}
	defer library.Close()
	all := slices.Concat(names.Stubs()...)
	for _, o := range c.Objects {
		relocs, err := o.Relocs()
		if err != nil {
			return fmt.Errorf("%s: %w", o.Path, err)
		}
		wanted, err := referredIn(o.Image, relocs, all)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Path, err)
		}
		for _, name := range wanted {
			if _, there := library.Lookup(name, ""); !there && !slices.Contains(l.Lacks, name) {
				l.Lacks = append(l.Lacks, name)
			}
		}
	}
	return nil
}

// private looks at a program that each rank has a copy of, as the host of private programs
// loads it: with the block for thread-locals that the host has, and behind the shim. opens is a
// library that the program opens for all to see; "": it opens none that is known.
func (l *looker) private(c *search.Closure, opens string) error {
	host, err := openInstalled("host")
	if err != nil {
		return err
	}
	defer host.Close()
	if l.host, err = openInstalled("libtpslhost.so"); err != nil {
		return err
	}
	defer l.host.Close()
	program, shim := c.Objects[0].Path, filepath.Join(filepath.Dir(host.Path), "libtpslshim.so")
	closure, err := l.search.Closure(program, shim)
	if err != nil {
		return err
	}
	defer closure.Close()
	l.rebound, l.static = plan.ReboundProcess, host.TLS.Memsz
	if err := l.add(closure, l.policies.Private, plan.Rule{Where: "the program"}); err != nil {
		return err
	}
	for _, o := range c.Objects {
		if slices.Contains(sonames.Flat, soname(o.Image)) {
			if err := l.tellMPI(o.Path); err != nil {
				return err
			}
		}
	}
	options := l.options()
	options.Policy, options.Program, options.Unified, options.Interposed = l.policies.Private, nil, nil, nil
	options.LocalExec, options.StandIn = true, shim
	p, err := plan.Make(program, options)
	l.judge(p, err)
	if opens == "" || p == nil {
		return nil
	}
	opened, err := l.search.Closure(opens)
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := l.add(opened, l.policies.Private, plan.Rule{Where: "opened by the program"}); err != nil {
		return err
	}
	l.judge(p.Extend(opens, plan.Opening{Global: true}))
	return nil
}

// executable is os.Executable, but in tests.
var executable = os.Executable

// openInstalled opens a file of lib/tpsl in the installation that this command is of.
func openInstalled(name string) (*image.Image, error) {
	self, err := executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, err
	}
	m, err := image.Open(filepath.Join(filepath.Dir(filepath.Dir(self)), "lib", "tpsl", name))
	if err != nil {
		return nil, fmt.Errorf("private mode: %w; install tpsl anew", err)
	}
	return m, nil
}

// modes says how a program can run with several ranks in a process, or why it cannot.
func modes(c *search.Closure) []Mode {
	const tpslcc = "relink it with tpslcc"
	root := c.Objects[0].Image
	linked := func(name string) bool { return c.Find(name) != nil }
	mpi := slices.IndexFunc(sonames.Flat, linked)
	switch {
	case root.Interp == "":
		return []Mode{{modeShared, false, "statically linked: link it with shared libraries, by tpslcc"}}
	case linked(sonames.Libtpsl):
		return []Mode{{modeShared, true, "linked with " + sonames.Libtpsl}}
	case mpi < 0:
		return []Mode{{modeShared, false, notMPI(c) + ": " + tpslcc + ", or use mpiexec -tpsl private if it loads an MPI library later"}}
	}
	name := sonames.Flat[mpi]
	private := Mode{modePrivate, true, "position-independent, linked with " + name}
	standIn := Mode{modeStandIn, true, "linked with " + name + ": under mpiexec -tpsl shared, if its threads call MPI_Init"}
	if slices.Contains(sonames.OpenMPI, name) {
		standIn.OK, standIn.Why = false, notMPI(c)
	}
	switch info, err := os.Stat(root.Path); {
	case err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0:
		why := "set-user-ID or set-group-ID, which keeps ld.so from other libraries: " + tpslcc
		private.OK, private.Why, standIn.OK, standIn.Why = false, why, false, why
	case root.Type == elf.ET_EXEC:
		private.OK, private.Why = false, "not position-independent (ET_EXEC): "+image.RebuildPIE
	case root.Heap():
		private.OK, private.Why = false, "a heap as well (it defines free), which the C library would not use: link it with the heap as a shared library"
	}
	return []Mode{private, standIn}
}

// notMPI says what a program without an MPI library of the right ABI has.
func notMPI(c *search.Closure) string {
	for _, o := range c.Objects {
		if mpilib.ABIOf(o.Image) == mpilib.OpenMPI {
			return fmt.Sprintf("linked with Open MPI (%s), whose ABI is not MPICH's", o.Path)
		}
	}
	return fmt.Sprintf("linked with none of %s", strings.Join(append([]string{sonames.Libtpsl}, sonames.MPI...), ", "))
}
