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

// define looks a reference of object i up in the order of the design: rebind
// table, the instance's own objects, its shared objects, the process.
func (s *resolver) define(i int, ref image.Symbol, skipSelf bool) definition {
	if ref.Defined() && !skipSelf && (ref.Bind == elf.STB_LOCAL || ref.Visibility != elf.STV_DEFAULT || s.images[i].Symbolic) {
		return definition{object: i, symbol: ref}
	}
	imp := Import{Name: ref.Name, Version: ref.Version, Weak: ref.Bind == elf.STB_WEAK, Wanted: s.plan.Objects[i].Path}
	if s.rebound(i, ref.Name) {
		imp.Source = FromRebind
		return definition{object: -1, imported: imp}
	}
	w := wish{ref.Name, ref.Version, ref.Library, -1}
	if skipSelf {
		w.not = i
	}
	f, known := s.found[w]
	if !known {
		f = s.search(w)
		s.found[w] = f
	}
	if f.shared {
		imp.Library = s.plan.Objects[f.object].Name
	}
	if f.shared || f.object < 0 {
		return definition{object: -1, symbol: f.symbol, imported: imp}
	}
	return definition{object: f.object, symbol: f.symbol}
}

// A wish is a symbol that is looked for in all objects but `not`.
type wish struct {
	name, version, library string
	not                    int
}

// A find is the first object that defines a symbol; object is negative when none does.
type find struct {
	object int
	shared bool
	symbol image.Symbol
}

func (s *resolver) search(w wish) find {
	for j, o := range s.plan.Objects {
		if o.Placement == Shared || j == w.not || s.fromProcess(w.name) || o.Local && !s.closure[j] {
			continue
		}
		if d, ok := s.images[j].Lookup(w.name, w.version); ok {
			return find{j, false, d}
		}
	}
	for j, o := range s.plan.Objects {
		if o.Placement != Shared || w.library != "" && o.Name != w.library {
			continue
		}
		if d, ok := s.images[j].Lookup(w.name, w.version); ok {
			return find{j, true, d}
		}
	}
	return find{object: -1}
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
