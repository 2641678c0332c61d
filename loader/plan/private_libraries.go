// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tpsl/tpsl/loader/image"
)

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
	Libraries  []Library // in ld.so's order
	Functions  []Exported
	Variables  []Exported // have one address outside, for all copies
	References []Reference
}

// A Library is a private one.
type Library struct {
	Loaded
	Prepare string // function to call in each copy, "" none
}

// Exported is what the other objects refer to in a private library.
type Exported struct {
	Name    string
	Library int // index into Diversion.Libraries
	Size    uint64
}

// A Reference is a word of the process that holds the address of a function.
type Reference struct {
	Address  uint64
	Function int  // index into Diversion.Functions
	Sealed   bool // in memory that is read-only after relocation
}

// Divert finds the private ones of the objects that the process has loaded, the program
// first, and the references to them in the others. It reads no file if there is none.
func Divert(objects []Loaded, policy Policy) (*Diversion, error) {
	d := &diverter{index: map[string]int{}}
	var others []Loaded
	for i, o := range objects {
		r := policy.Rule(o.name())
		if i == 0 || r.Placement != Private {
			others = append(others, o)
		} else {
			d.Libraries = append(d.Libraries, Library{o, r.Prepare})
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
		if err := sameBySoname(m, policy); err != nil {
			return nil, err
		}
	}
	for _, o := range others {
		if err := d.scan(o); err != nil {
			return nil, fmt.Errorf("references to private libraries in %s: %w", o.Path, err)
		}
	}
	return &d.Diversion, nil
}

// sameBySoname tells of a private library that is another one by its SONAME, which
// decides when a rank opens it. Known by the file's name only, it would be ld.so's copy.
func sameBySoname(m *image.Image, policy Policy) error {
	file, at := filepath.Base(m.Path), policy.Place(soname(m))
	if at == Private {
		return nil
	}
	r := policy.Rule(file)
	return fmt.Errorf("%s: %s makes it private by its file's name %s, but its SONAME is %s, which is %s; let the pattern match both",
		m.Path, r.Where, file, soname(m), at)
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
		if err := d.refer(o, m, r, sym); err != nil {
			return err
		}
	}
	return nil
}

func (d *diverter) refer(o Loaded, m *image.Image, r image.Reloc, sym image.Symbol) error {
	lib, def := d.definition(sym)
	switch {
	case lib < 0:
	case def.Type == elf.STT_TLS:
		return fmt.Errorf("thread-local variable %s of %s: a program cannot have one for each rank; leave that library shared", sym.Name, d.Libraries[lib].Path)
	case def.Type == elf.STT_OBJECT && d.images[lib].Constant(def.Value):
		// The program's own is right: tables of C++ classes, say.
	case def.Type == elf.STT_OBJECT:
		if v := (Exported{sym.Name, lib, def.Size}); !slices.Contains(d.Variables, v) {
			d.Variables = append(d.Variables, v)
		}
	case r.Addend == 0 && (r.Type == elf.R_X86_64_JMP_SLOT || r.Type == elf.R_X86_64_GLOB_DAT || r.Type == elf.R_X86_64_64):
		d.References = append(d.References, Reference{
			Address: o.Base + r.Offset, Function: d.function(Exported{sym.Name, lib, def.Size}), Sealed: sealed(m.Relro, r.Offset),
		})
	}
	return nil
}

// sealed tells whether ld.so makes an address read-only. It rounds the end down.
func sealed(relro image.Range, address uint64) bool {
	end := (relro.Vaddr + relro.Size) &^ (uint64(os.Getpagesize()) - 1)
	return address >= relro.Vaddr && address < end
}

// definition returns the index of the library that defines a symbol, -1: none does, and
// what it says.
func (d *diverter) definition(sym image.Symbol) (int, image.Symbol) {
	for i, m := range d.images {
		if def, ok := m.Bind(sym.Name, sym.Version); ok {
			return i, def
		}
	}
	return -1, image.Symbol{}
}

func (d *diverter) function(f Exported) int {
	i, ok := d.index[f.Name]
	if !ok {
		i = len(d.Functions)
		d.index[f.Name] = i
		d.Functions = append(d.Functions, f)
	}
	return i
}
