// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// Scope lists an object and all that it needs, breadth-first: what dlsym searches for
// its handle, and what a library that is opened sees behind the global scope. What only
// shared objects need is not in it. The stand-in for the C library is where that is.
func (p *Plan) Scope(i int) []int {
	list, seen := []int{i}, map[int]bool{i: true}
	for k := 0; k < len(list); k++ {
		for _, d := range p.Objects[list[k]].Deps {
			if !seen[d] {
				seen[d] = true
				list = append(list, d)
			}
		}
	}
	return p.withStandIn(list)
}

// preloaded lists the objects of files that come first. They come before a library, as they would in a process whose program needs it; a
// program comes before them.
func (p *Plan) preloaded(files []string) (list []int) {
	for i, o := range p.Objects {
		if slices.Contains(files, o.Path) {
			list = append(list, i)
		}
	}
	return list
}

// withStandIn puts the stand-in in front of the C library.
func (p *Plan) withStandIn(list []int) []int {
	at := slices.IndexFunc(list, func(i int) bool { return p.Objects[i].CLibrary })
	if p.StandIn == nil || at < 0 {
		return list
	}
	return slices.Insert(list, at, slices.Index(p.Objects, p.StandIn))
}

// join appends what a list lacks.
func join(list, more []int) []int {
	list = slices.Clip(list) // another plan's, too
	for _, i := range more {
		if !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	return list
}

// order makes the orders of lookup for the new objects.
func (s *resolver) order(how Opening) {
	p := s.plan
	own := p.Scope(p.Root)
	if how.Deep {
		s.orders[asked] = join(own, p.Global)
	} else {
		s.orders[asked] = join(p.Global, own)
	}
	for _, at := range []Placement{Once, Shared, Private} {
		for _, i := range s.orders[asked] {
			if o := p.Objects[i]; o.Placement == at && o != p.StandIn {
				s.orders[once] = append(s.orders[once], i)
			}
		}
	}
	if k := slices.Index(p.Objects, p.StandIn); k >= 0 {
		s.orders[standIn] = join(p.Global[slices.Index(p.Global, k):], p.Scope(k))
	}
}

// Who asks decides the order of lookup.
const (
	asked   = iota // ld.so's: the global scope, then the scope of what is opened
	once           // all instances use it: what others than the first would not have comes last
	standIn        // bound as the C library is, in front of which nobody stands
	askers
)

func (s *resolver) asker(i int) int {
	switch o := s.plan.Objects[i]; {
	case o == s.plan.StandIn:
		return standIn
	case o.Placement == Once:
		return once
	}
	return asked
}
