// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	_ "embed"
	"fmt"
	"path"
	"strings"
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
}

//go:embed policy.default
var defaultPolicy string

// DefaultPolicy returns the policy for MPICH and its relatives in a program whose
// other libraries are shared.
func DefaultPolicy() Policy {
	p, err := ParsePolicy(defaultPolicy)
	if err != nil {
		panic(err) // the embedded file is part of the program
	}
	return p
}

// ParsePolicy reads a policy file: "pattern placement" per line, and behind it maybe the
// function that prepares a private library; # comments.
func ParsePolicy(text string) (Policy, error) {
	var p Policy
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 && len(f) != 3 {
			return nil, fmt.Errorf("policy line %d: want \"pattern placement [function]\", have %q", i+1, line)
		}
		if _, err := path.Match(f[0], ""); err != nil {
			return nil, fmt.Errorf("policy line %d: pattern %q: %w", i+1, f[0], err)
		}
		at, err := parsePlacement(f[1])
		if err != nil {
			return nil, fmt.Errorf("policy line %d: %w", i+1, err)
		}
		p = append(p, Rule{f[0], at, strings.Join(f[2:], "")})
	}
	return p, nil
}

func parsePlacement(word string) (Placement, error) {
	for _, p := range []Placement{Private, Once, Shared} {
		if p.String() == word {
			return p, nil
		}
	}
	return 0, fmt.Errorf("placement %q is none of private, once, shared", word)
}

// Place returns the placement of the library called soname.
func (p Policy) Place(soname string) Placement { return p.rule(soname).Placement }

func (p Policy) rule(soname string) Rule {
	for _, r := range p {
		if ok, _ := path.Match(r.Pattern, soname); ok {
			return r
		}
	}
	return Rule{Placement: Private}
}
