// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"debug/elf"

	"github.com/tpsl/tpsl/loader/image"
)

// A definition is where a reference leads: into object (an index) or, when object
// is negative, to the process. symbol is set whenever a file defines it.
type definition struct {
	object   int
	symbol   image.Symbol
	imported Import
}

// define looks a reference of object i up, in the order of scope.go. A rebound name
// stands in place of every definition that is the process's.
func (s *resolver) define(i int, ref image.Symbol, skipSelf bool) definition {
	if ref.Defined() && !skipSelf && (ref.Bind == elf.STB_LOCAL || ref.Visibility != elf.STV_DEFAULT || s.images[i].Symbolic) {
		return definition{object: i, symbol: ref}
	}
	w := wish{ref.Name, ref.Version, s.asker(i), -1}
	if skipSelf {
		w.not = i
	}
	f, known := s.found[w]
	if !known {
		f = s.search(w)
		s.found[w] = f
	}
	if f.object >= 0 && s.plan.Objects[f.object].Wrapped && s.wrapped[ref.Name] {
		return definition{object: -1, symbol: f.symbol, imported: Import{Source: FromWrapper, Name: ref.Name, Wanted: s.plan.Objects[i].Path}}
	}
	if f.object >= 0 && !f.shared {
		return definition{object: f.object, symbol: f.symbol}
	}
	imp := Import{Name: ref.Name, Version: ref.Version, Weak: ref.Bind == elf.STB_WEAK, Wanted: s.plan.Objects[i].Path}
	switch {
	case s.rebound(i, ref.Name):
		imp.Source = FromRebind
	case f.shared:
		imp.Library = s.plan.Objects[f.object].Name
		if newest, _ := s.images[f.object].Lookup(ref.Name, ref.Version); newest.Version != f.symbol.Version {
			imp.Version = f.symbol.Version // which dlsym would not find
		}
	}
	return definition{object: -1, symbol: f.symbol, imported: imp}
}

// A wish is a symbol that is looked for, by whom, in all objects but `not`.
type wish struct {
	name, version string
	asker, not    int
}

// A find is the first object that defines a symbol; object is negative when none does.
type find struct {
	object int
	shared bool
	symbol image.Symbol
}

func (s *resolver) search(w wish) find {
	for _, j := range s.orders[w.asker] {
		o := s.plan.Objects[j]
		shared := o.Placement == Shared
		if j == w.not || !shared && s.fromProcess(w.name) {
			continue
		}
		d, ok := s.images[j].Bind(w.name, w.version)
		switch {
		case !ok:
		case w.asker == standIn && d.Type == elf.STT_OBJECT: // a program may have a copy of it
			w.asker = asked
			return s.search(w)
		case !shared && d.Bind == bindUnique:
			return s.unique(w, find{j, false, d})
		default:
			return find{j, shared, d}
		}
	}
	return find{object: -1}
}

const bindUnique = elf.SymBind(10) // STB_GNU_UNIQUE

// unique returns the definition that counts of a unique symbol (the variables of C++'s
// templates and inline functions): the first that was loaded, whoever sees it.
func (s *resolver) unique(w wish, f find) find {
	for j, o := range s.plan.Objects[:f.object] {
		if o.Placement != Private {
			continue
		}
		if d, ok := s.images[j].Bind(w.name, w.version); ok && d.Bind == bindUnique {
			return find{j, false, d}
		}
	}
	return f
}

// fromProcess tells whether no private object may define a name.
func (s *resolver) fromProcess(name string) bool {
	return s.unified[name] || s.ofProgram && s.interposed[name]
}

func (s *resolver) rebound(i int, name string) bool {
	if s.plan.Objects[i].Placement == Once {
		return s.rebindOnce[name]
	}
	return s.rebind[name]
}

// key leaves out what does not make two imports differ.
func key(imp Import) Import {
	imp.Wanted = ""
	return imp
}

func (s *resolver) importOf(imp Import) uint32 {
	k := key(imp)
	if n, ok := s.imports[k]; ok {
		return n
	}
	n := uint32(len(s.plan.Imports))
	s.plan.Imports = append(s.plan.Imports, imp)
	s.imports[k] = n
	return n
}
