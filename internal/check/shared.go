// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/globals"
	sonames "github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/names"
)

// Variable is a global or static variable that all threads of a process share, so that ranks which are threads do too.
type Variable struct {
	Name   string `json:"name"`   // as in the source, with its scope
	Symbol string `json:"symbol"` // as in the symbol table
	Bytes  uint64 `json:"bytes"`
	File   string `json:"file"`   // of the source, "" if it is not known
	Line   int    `json:"line"`   // from 1; 0 if it is not known
	Object string `json:"object"` // path of the program, or of its library, that has the variable
}

// threaded reports whether ranks can be threads of a program in one of its modes.
func threaded(modes []Mode) bool {
	return slices.ContainsFunc(modes, func(m Mode) bool { return m.OK && m.Name != modePrivate })
}

// shared lists the variables of a program and of the libraries that come with it.
func (l *looker) shared(c *search.Closure) {
	for _, o := range l.ownObjects(c) {
		list, err := globals.Read(o.Image)
		if err != nil {
			l.Unseen = append(l.Unseen, err.Error())
			continue
		}
		if list.Stripped {
			l.Unseen = append(l.Unseen, o.Path+": it is stripped, so its static variables cannot be seen: check a file that is not")
		}
		if list.NoLines != nil {
			l.Unseen = append(l.Unseen, o.Path+": lines of variables may be missing: "+list.NoLines.Error())
		}
		for _, v := range list.Variables {
			if !slices.Contains(names.Data, v.Symbol) && !ofMPIHeader.MatchString(v.Symbol) {
				l.Variables = append(l.Variables, Variable{v.Name, v.Symbol, v.Bytes, v.File, v.Line, o.Path})
			}
		}
	}
}

// ofMPIHeader matches the COMMON blocks that MPICH's mpif.h declares in each program. Their addresses stand for MPI_BOTTOM
// and its like, and nothing is stored in them.
var ofMPIHeader = regexp.MustCompile(`^(?i)mpi(priv[12c]|fcmb\w+)_*$`)

// ownObjects returns the program and those of its libraries whose variables its threads share and its programmer answers
// for. The MPI library is not among them, nor is what only that needs.
func (l *looker) ownObjects(c *search.Closure) (own []*search.Object) {
	queue := []int{0}
	for at := 0; at < len(queue); at++ {
		o := c.Objects[queue[at]]
		if at == 0 || l.comesWithProgram(o.Image) {
			own = append(own, o)
		}
		for _, dep := range o.Deps {
			if !slices.Contains(queue, dep) && !ofMPI(c.Objects[dep].Image) {
				queue = append(queue, dep)
			}
		}
	}
	return own
}

// ofMPI tells the libraries of MPI implementations, libtpsl among them.
func ofMPI(m *image.Image) bool {
	name := soname(m)
	return name == sonames.Libtpsl || slices.Contains(sonames.Flat, name) ||
		slices.ContainsFunc(bindings, func(pattern string) bool { return matches(pattern, name) })
}

// bindings are MPICH's libraries for other languages.
var bindings = []string{"libmpifort.so.*", "libmpichfort.so.*", "libmpicxx.so.*", "libmpichcxx.so.*"}

func matches(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// systemFolders hold the distribution's libraries, which are made for threads or known not to be.
var systemFolders = []string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"}

// comesWithProgram reports whether a library is the program's own and there once for all ranks. The libraries that the
// policy shares between MPI libraries, too, are runtimes of languages and their like, wherever they are installed.
func (l *looker) comesWithProgram(m *image.Image) bool {
	inSystem := slices.ContainsFunc(systemFolders, func(folder string) bool { return strings.HasPrefix(m.Path, folder) })
	name := soname(m)
	return !inSystem && l.policies.Program.Place(name) == plan.Shared && l.policies.Opened.Place(name) != plan.Shared
}
