// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"debug/elf"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
)

//go:embed policy.program
var programPolicy string

// ProgramPolicy returns the policy for the program's libraries, with more private ones
// in front: "pattern" or "pattern=function", with commas between them.
func ProgramPolicy(more string) (Policy, error) {
	var text strings.Builder
	for p := range strings.SplitSeq(more, ",") {
		if pattern, function, _ := strings.Cut(p, "="); pattern != "" {
			fmt.Fprintln(&text, pattern, Private, function)
		}
	}
	return ParsePolicy(text.String() + programPolicy)
}

// Loaded is an object that ld.so has mapped: its file, and what to add to the file's
// addresses.
type Loaded struct {
	Path string
	Base uint64
}

func (l Loaded) name() string { return filepath.Base(l.Path) }

// A Diversion says which private libraries the program has, and where in the process
// references to their functions stand, so that each rank can be led to a copy of its
// own.
type Diversion struct {
	Libraries  []Loaded // in ld.so's order
	Prepare    []string // functions to call in each copy
	Functions  []string // referred to from outside the libraries, each once
	Variables  []Variable
	References []Reference
}

// A Variable of a private library is referred to from outside, which has one address for
// all copies.
type Variable struct {
	Name string
	Size uint64
}

// A Reference is a word of the process that holds the address of a function.
type Reference struct {
	Address  uint64
	Function int  // index into Diversion.Functions
	Sealed   bool // in memory that is read-only after relocation
}

// Divert finds the private ones of the objects that the process has loaded, and the
// references to them in the others. It reads no file if there is none.
func Divert(objects []Loaded, policy Policy) (*Diversion, error) {
	d := &diverter{index: map[string]int{}}
	for _, o := range objects {
		r := policy.rule(o.name())
		if r.Placement != Private {
			continue
		}
		d.Libraries = append(d.Libraries, o)
		if r.Prepare != "" {
			d.Prepare = append(d.Prepare, r.Prepare)
		}
	}
	if len(d.Libraries) == 0 {
		return &d.Diversion, nil
	}
	defer d.close()
	for _, l := range d.Libraries {
		m, err := image.Open(l.Path)
		if err != nil {
			return nil, err
		}
		d.images = append(d.images, m)
	}
	for _, o := range objects {
		if slices.Contains(d.Libraries, o) {
			continue
		}
		if err := d.scan(o); err != nil {
			return nil, fmt.Errorf("references to private libraries in %s: %w", o.Path, err)
		}
	}
	return &d.Diversion, nil
}

type diverter struct {
	Diversion
	images []*image.Image // of Libraries
	index  map[string]int // of Functions
}

func (d *diverter) close() {
	for _, m := range d.images {
		m.Close()
	}
}

// scan collects the references of one object.
func (d *diverter) scan(o Loaded) error {
	m, err := image.Open(o.Path)
	if err != nil {
		return err
	}
	defer m.Close()
	relocs, err := m.Relocs()
	if err != nil {
		return err
	}
	for _, r := range relocs {
		if r.Sym == 0 {
			continue
		}
		sym, err := m.Symbol(r.Sym)
		if err != nil {
			return err
		}
		if sym.Defined() && r.Type != elf.R_X86_64_COPY {
			continue // its own
		}
		d.refer(o, m, r, sym)
	}
	return nil
}

func (d *diverter) refer(o Loaded, m *image.Image, r image.Reloc, sym image.Symbol) {
	lib, def := d.definition(sym)
	switch {
	case lib == nil:
	case def.Type == elf.STT_OBJECT && lib.Constant(def.Value):
		// The program's own is right: tables of C++ classes, say.
	case def.Type == elf.STT_OBJECT:
		if v := (Variable{sym.Name, def.Size}); !slices.Contains(d.Variables, v) {
			d.Variables = append(d.Variables, v)
		}
	case r.Addend == 0 && (r.Type == elf.R_X86_64_JMP_SLOT || r.Type == elf.R_X86_64_GLOB_DAT || r.Type == elf.R_X86_64_64):
		relro := r.Offset - m.Relro.Vaddr
		d.References = append(d.References, Reference{
			Address: o.Base + r.Offset, Function: d.function(sym.Name), Sealed: relro < m.Relro.Size,
		})
	}
}

// definition returns the library that defines a symbol, nil: none does, and what it says.
func (d *diverter) definition(sym image.Symbol) (*image.Image, image.Symbol) {
	for _, m := range d.images {
		if def, ok := m.Lookup(sym.Name, sym.Version); ok {
			return m, def
		}
	}
	return nil, image.Symbol{}
}

func (d *diverter) function(name string) int {
	i, ok := d.index[name]
	if !ok {
		i = len(d.Functions)
		d.index[name] = i
		d.Functions = append(d.Functions, name)
	}
	return i
}
