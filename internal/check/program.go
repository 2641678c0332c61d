// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/library"
)

// The modes of a program.
const (
	modeShared  = "shared"   // an ordinary process, whose threads claim slots
	modeStandIn = "stand-in" // the same, with libtpsl in place of the MPI library
	modePrivate = "private"  // loaded once per rank
)

// program looks at a program: its libraries, and what its ranks would run on.
func (l *looker) program(c *search.Closure) error {
	l.Modes = modes(c)
	if err := l.add(c, l.policies.Program, plan.Rule{Placement: plan.Shared, Where: "the program"}); err != nil {
		return err
	}
	if !slices.ContainsFunc(l.Modes, func(m Mode) bool { return m.OK }) {
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(l.Objects), func(o Object) bool { return o.Placement == plan.Shared.String() })
	p, err := l.mpiLibrary()
	if err != nil || p == nil {
		return err
	}
	for _, o := range own {
		l.judge(p.Extend(o.Path, false))
	}
	return nil
}

// modes says how a program can run with several ranks in a process, or why it cannot.
func modes(c *search.Closure) []Mode {
	const tpslcc = "relink it with tpslcc"
	root := c.Objects[0].Image
	linked := func(name string) bool { return c.Find(name) != nil }
	mpi := slices.IndexFunc(library.Defaults, linked)
	switch {
	case root.Interp == "":
		return []Mode{{modeShared, false, "statically linked: link it with shared libraries, by tpslcc"}}
	case linked(library.Soname):
		return []Mode{{modeShared, true, "linked with " + library.Soname}}
	case mpi < 0:
		return []Mode{{modeShared, false, notMPI(c) + ": " + tpslcc}}
	}
	name := library.Defaults[mpi]
	private := Mode{modePrivate, true, "position-independent, linked with " + name}
	standIn := Mode{modeStandIn, true, "linked with " + name + ": under mpiexec -tpsl shared, if its threads call MPI_Init"}
	switch info, err := os.Stat(root.Path); {
	case err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0:
		why := "set-user-ID or set-group-ID, which keeps ld.so from other libraries: " + tpslcc
		private.OK, private.Why, standIn.OK, standIn.Why = false, why, false, why
	case root.Type == elf.ET_EXEC:
		private.OK, private.Why = false, "not position-independent (ET_EXEC): rebuild it with -fPIE -pie"
	}
	return []Mode{private, standIn}
}

// notMPI says what a program without an MPI library of the right ABI has.
func notMPI(c *search.Closure) string {
	for _, o := range c.Objects {
		if library.ABIOf(o.Image) == library.OpenMPI {
			return fmt.Sprintf("linked with Open MPI (%s), whose ABI is not MPICH's", o.Path)
		}
	}
	return fmt.Sprintf("linked with none of %s", strings.Join(append([]string{library.Soname}, library.Defaults...), ", "))
}
