// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
	"github.com/tpsl/tpsl/loader/search"
	"github.com/tpsl/tpsl/tpsl/names"
)

// Library.By: who wants a library.
const (
	byArgument = "argument"
	byVariable = "TPSL_MPI_LIBRARY"
	byDefault  = "default"
)

// finder finds libraries as libtpsl does.
type finder struct {
	search *search.Path
	policy plan.Policy // for the closure of the MPI library
}

func (f *finder) find(name string) (string, error) {
	return mpilib.Finder(f.search, nil)(name)
}

func (f *finder) chosen(asked string) (c Chosen) {
	path, err := mpilib.Find(asked, f.abiOf(asked), nil, f.find)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	c.Path = path
	return c
}

// abiOf returns the ABI of the programs that the library asked for can serve. Programs for MPICH need not ask for one.
func (f *finder) abiOf(asked string) mpilib.ABI {
	path, err := f.find(asked)
	if err != nil {
		return mpilib.MPICH
	}
	if l, _ := mpilib.Of(path, f.search); l.ABI == mpilib.Standard {
		return mpilib.Standard
	}
	return mpilib.MPICH
}

// libraries looks at the library asked for in TPSL_MPI_LIBRARY, the defaults, and the
// files that the user names.
func (f *finder) libraries(asked string, files []string) []Library {
	var all []Library
	if asked != "" {
		all = append(all, f.look(byVariable, asked))
	}
	for _, name := range soname.MPI {
		all = append(all, f.look(byDefault, name))
	}
	for _, name := range files {
		all = append(all, f.look(byArgument, name))
	}
	return all
}

func (f *finder) look(by, name string) Library {
	l := Library{Wanted: name, By: by, Missing: []string{}, Extra: []string{}, Closure: []Placed{}, Refused: []string{}}
	if _, err := os.Stat(name); by == byArgument && err == nil {
		name, _ = filepath.Abs(name) // a file of the working directory
	}
	path, err := f.find(name)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	m, err := image.Open(path)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	defer m.Close()
	judged, _ := mpilib.Of(path, f.search) // what is missing of its closure is in the plan's refusal
	l.Path, l.Soname, l.ABI, l.Version = path, m.Soname, judged.ABI, judged.Version
	if l.ABI == mpilib.MPICH || l.ABI == mpilib.Standard {
		missing, extra := names.Compare(functions(m))
		l.Missing, l.Extra = append(l.Missing, missing...), append(l.Extra, extra...)
		f.plan(&l)
	}
	return l
}

// functions returns the names of the functions that a library exports.
func functions(m *image.Image) (list []string) {
	for s := range m.Exports() {
		if s.Type == elf.STT_FUNC || s.Type == elf.STT_GNU_IFUNC {
			list = append(list, s.Name)
		}
	}
	return list
}

// plan makes the plan that libtpsl would make, and keeps what is of interest. What is
// rebound does not matter to it: libc has these names, too.
func (f *finder) plan(l *Library) {
	p, err := plan.Make(l.Path, plan.Options{Policy: f.policy, Search: f.search, Unified: names.Data, StaticTLS: plan.StaticTLS})
	if err != nil {
		l.Refused = append(l.Refused, strings.Split(err.Error(), "\n")...)
		return
	}
	for _, o := range p.Objects {
		l.Closure = append(l.Closure, Placed{o.Name, o.Placement.String(), o.Path})
	}
	for _, imp := range p.Imports {
		if imp.Source == plan.FromProcess && imp.Library == "" && !imp.Weak && !slices.Contains(names.Data, imp.Name) {
			l.Refused = append(l.Refused, fmt.Sprintf("%s: symbol %s is defined by no library", imp.Wanted, imp.Name))
		}
	}
}
