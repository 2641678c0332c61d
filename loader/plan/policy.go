// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"path"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
)

// Placement says who maps an object, and how often.
type Placement uint8

// The three placements.
const (
	Private Placement = iota // by the loader, a copy per instance
	Once                     // by the loader, one copy for all instances
	Shared                   // by ld.so: the process's own copy
)

func (p Placement) String() string {
	return [...]string{"private", "once", "shared"}[p]
}

// A Policy maps library names to placements. The first matching rule decides; a
// name that no rule matches is private.
type Policy []Rule

// A Rule places the libraries whose SONAME matches Pattern (path.Match).
type Rule struct {
	Pattern   string
	Placement Placement
	Prepare   string // to call in each new copy: int f(void), or a Fortran subroutine with an INTEGER for an error; "" none
	Always    bool   // even for the library asked for
	Where     string // "file:line" that says so, or the variable
}

// Policies are the two that a process has.
type Policies struct {
	Opened  Policy // for libraries that instances are opened of, and their closure
	Program Policy // for the program's own libraries
	Private Policy // for a program that each rank has a copy of, and its closure
}

// Place returns the placement of the library called soname.
func (p Policy) Place(soname string) Placement { return p.Rule(soname).Placement }

// Rule returns the rule that places the library called soname.
func (p Policy) Rule(soname string) Rule {
	for _, r := range p {
		if ok, _ := path.Match(r.Pattern, soname); ok {
			return r
		}
	}
	return Rule{Placement: Private}
}

// Outside returns rules that leave libraries to ld.so, which has loaded their files for the
// whole process.
func Outside(files []string) (p Policy, err error) {
	for _, file := range files {
		m, err := image.Open(file)
		if err != nil {
			return nil, err
		}
		p = append(p, Rule{Pattern: literal(soname(m)), Placement: Shared, Where: file})
		if err := m.Close(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// literal is the pattern that matches a name and nothing else.
func literal(name string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[").Replace(name)
}
