// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package globals

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	"github.com/tpsl/tpsl/internal/debuginfo"
	"github.com/tpsl/tpsl/loader/image"
)

// Variable is one that all threads of a process share.
type Variable struct {
	Name   string // as in the source, with its scope: rank, fill()::calls, grid::cells, common /block/
	Symbol string // as in the symbol table
	Bytes  uint64
	File   string // of the source, "" if it is not known
	Line   int    // from 1; 0 if it is not known
}

// List is what a file has.
type List struct {
	// Variables are in the order of files and lines. Those whose line is not known come last.
	Variables []Variable
	// Stripped tells that neither the file nor a file of its debugging information has a table of all symbols: only variables
	// that the file exports are listed.
	Stripped bool
	// NoLines is why the debug information of the file could not be read, nil if it was or if there is none.
	NoLines error
}

// Read lists the variables of an open image, whose file it reads again. The error says that the file changed meanwhile or
// that its symbol table is malformed.
func Read(m *image.Image) (*List, error) {
	list := &List{}
	if err := list.read(m); err != nil {
		return nil, fmt.Errorf("list variables of %s: %w", m.Path, err)
	}
	return list, nil
}

func (l *List) read(m *image.Image) error {
	f, err := elf.Open(m.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	debug := f
	if separate := debuginfo.Separate(m.Path, f, debuginfo.Folder); separate != nil {
		defer separate.Close()
		debug = separate
	}
	symbols, err := l.symbols(f, debug)
	if err != nil {
		return err
	}
	own, err := ownVariables(m, symbols)
	if err != nil || len(own) == 0 {
		return err
	}
	declared, err := declarations(debug)
	l.NoLines = err
	for _, o := range own {
		d := declared[o.Value]
		v := Variable{Name: readable(o.Name, d), Symbol: o.Name, Bytes: o.Size, File: o.file}
		if d != nil {
			v.File, v.Line = d.file, d.line
		}
		l.Variables = append(l.Variables, v)
	}
	slices.SortStableFunc(l.Variables, func(a, b Variable) int {
		return cmp.Or(cmp.Compare(known(b), known(a)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

// symbols returns those of the file, or of its separate debugging information if the file is stripped.
func (l *List) symbols(file, debug *elf.File) ([]elf.Symbol, error) {
	symbols, err := file.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		symbols, err = debug.Symbols()
	}
	if errors.Is(err, elf.ErrNoSymbols) {
		l.Stripped = true
		symbols, err = file.DynamicSymbols()
	}
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, nil
	}
	return symbols, err
}

// known is 1 if the line of a variable is known, else 0.
func known(v Variable) int { return min(v.Line, 1) }

// symbol is one with the source file that the linker noted for it, which it does for static variables only.
type symbol struct {
	elf.Symbol
	file string
}

// startupFile is the source of the compiler's own code in every program and library.
const startupFile = "crtstuff.c"

// ownVariables picks the symbols of writable variables that the source of the file defines, one for each address.
func ownVariables(m *image.Image, symbols []elf.Symbol) (own []symbol, err error) {
	taken, err := copied(m)
	if err != nil {
		return nil, err
	}
	file := ""
	for _, s := range symbols {
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_FILE:
			file = s.Name // of the local symbols that follow
			continue
		case elf.STT_OBJECT, elf.STT_COMMON:
		default:
			continue
		}
		if elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			file = ""
		}
		defined := s.Section != elf.SHN_UNDEF && s.Section < elf.SHN_LORESERVE
		if !defined || s.Size == 0 || taken[s.Value] || m.Constant(s.Value) || file == startupFile || ofImplementation(s.Name) {
			continue
		}
		taken[s.Value] = true
		own = append(own, symbol{s, file})
	}
	return own, nil
}

// copied returns the addresses of variables of libraries, such as stdout, of which a program has the only copy.
func copied(m *image.Image) (map[uint64]bool, error) {
	relocs, err := m.Relocs()
	if err != nil {
		return nil, err
	}
	addresses := map[uint64]bool{}
	for _, r := range relocs {
		if r.Type == elf.R_X86_64_COPY {
			addresses[r.Offset] = true
		}
	}
	return addresses, nil
}
