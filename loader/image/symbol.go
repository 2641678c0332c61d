// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
)

// Symbol is an entry of the dynamic symbol table.
type Symbol struct {
	Name    string
	Version string // of a definition the one it has, of a reference the one it wants; "": none
	Library string // of a reference with a version: the file it is wanted from (vn_file)
	Hidden  bool   // versioned, but not the default: foo@V, not foo@@V

	Value, Size uint64
	Type        elf.SymType
	Bind        elf.SymBind
	Visibility  elf.SymVis
	Section     elf.SectionIndex
}

// Defined tells a definition from a reference.
func (s Symbol) Defined() bool { return s.Section != elf.SHN_UNDEF }

// rawSymbol is an Elf64_Sym.
type rawSymbol struct {
	name        uint32
	info, other byte
	section     uint16
	value, size uint64
}

// raw returns an entry of the symbol table, false where the table cannot reach.
func (m *Image) raw(index uint32) (rawSymbol, bool) {
	b, ok := slice(m.symtab, uint64(index)*symSize, symSize)
	if !ok {
		return rawSymbol{}, false
	}
	le := binary.LittleEndian
	return rawSymbol{
		name: le.Uint32(b), info: b[4], other: b[5], section: le.Uint16(b[6:]),
		value: le.Uint64(b[8:]), size: le.Uint64(b[16:]),
	}, true
}

// visible tells whether other objects can bind to the symbol. The rules are
// those of check_match in glibc's elf/dl-lookup.c.
func (s rawSymbol) visible() bool {
	switch elf.ST_VISIBILITY(s.other) {
	case elf.STV_HIDDEN, elf.STV_INTERNAL:
		return false
	}
	switch elf.ST_BIND(s.info) {
	case elf.STB_GLOBAL, elf.STB_WEAK, stbGNUUnique:
	default:
		return false
	}
	section := elf.SectionIndex(s.section)
	switch elf.ST_TYPE(s.info) {
	case elf.STT_TLS:
		return section != elf.SHN_UNDEF
	case elf.STT_NOTYPE, elf.STT_OBJECT, elf.STT_FUNC, elf.STT_COMMON, elf.STT_GNU_IFUNC:
		return section != elf.SHN_UNDEF && (s.value != 0 || section == elf.SHN_ABS)
	}
	return false
}

// stbGNUUnique is STB_GNU_UNIQUE, one definition for the whole process. debug/elf
// knows the number as STB_LOOS only.
const stbGNUUnique = elf.STB_LOOS

// Symbol returns an entry of the dynamic symbol table, as relocations name it.
func (m *Image) Symbol(index uint32) (Symbol, error) {
	s, err := m.symbol(index)
	if err != nil {
		return Symbol{}, fmt.Errorf("read symbol %d of %s: %w", index, m.Path, err)
	}
	return s, nil
}

func (m *Image) symbol(index uint32) (Symbol, error) {
	r, ok := m.raw(index)
	if !ok {
		return Symbol{}, fmt.Errorf("DT_SYMTAB: %w", errOutside)
	}
	v, hidden, err := m.versionOf(index)
	if err != nil {
		return Symbol{}, err
	}
	name := ""
	if r.name != 0 || index != 0 {
		if name, err = m.str(uint64(r.name), len(m.strtab)); err != nil {
			return Symbol{}, err
		}
	}
	s := Symbol{
		Name: name, Library: v.library, Hidden: hidden,
		Value: r.value, Size: r.size,
		Type: elf.ST_TYPE(r.info), Bind: elf.ST_BIND(r.info),
		Visibility: elf.ST_VISIBILITY(r.other), Section: elf.SectionIndex(r.section),
	}
	if !v.base {
		s.Version = v.name
	}
	return s, nil
}

// versionOf returns a symbol's version, zero for none, and whether it is hidden.
func (m *Image) versionOf(index uint32) (version, bool, error) {
	if m.versym == nil {
		return version{}, false, nil
	}
	b, ok := slice(m.versym, uint64(index)*2, 2)
	if !ok {
		return version{}, false, fmt.Errorf("DT_VERSYM: %w", errOutside)
	}
	entry := binary.LittleEndian.Uint16(b)
	i, hidden := int(entry&versionIndex), entry&versionHidden != 0
	if i < firstVersion {
		return version{}, hidden, nil
	}
	if i >= len(m.versions) || m.versions[i].name == "" {
		return version{}, false, fmt.Errorf("DT_VERSYM: version index %d is neither defined nor needed", i)
	}
	return m.versions[i], hidden, nil
}

// setSymbols finds the symbol table and its size, which only hash tables tell,
// and checks the names and versions in it.
func (m *Image) setSymbols(d dynamic) error {
	if err := entrySize(d, elf.DT_SYMENT, symSize); err != nil {
		return err
	}
	m.GNUHashVaddr, m.SysVHashVaddr = d[elf.DT_GNU_HASH], d[elf.DT_HASH]
	if m.SymtabVaddr = d[elf.DT_SYMTAB]; m.SymtabVaddr == 0 {
		return nil
	}
	var err error
	if m.symtab, err = m.rest(m.SymtabVaddr); err != nil {
		return fmt.Errorf("DT_SYMTAB: %w", err)
	}
	if err := m.setHashes(); err != nil {
		return err
	}
	if m.gnu == nil && m.sysv == nil {
		m.SymbolCount = m.guessSymbols(d)
		return nil
	}
	for i := range m.SymbolCount {
		if err := m.checkSymbol(i); err != nil {
			return fmt.Errorf("DT_SYMTAB[%d]: %w", i, err)
		}
	}
	return nil
}

func (m *Image) checkSymbol(index uint32) error {
	r, ok := m.raw(index)
	if !ok {
		return errOutside
	}
	if index > 0 && uint64(r.name) >= uint64(len(m.strtab)) {
		return fmt.Errorf("st_name %#x outside the string table", r.name)
	}
	_, _, err := m.versionOf(index)
	return err
}

// guessSymbols is for an object without any hash table: nothing states how many
// symbols there are. Linkers let another table follow; that, or the first entry
// that cannot be a symbol, ends it.
func (m *Image) guessSymbols(d dynamic) uint32 {
	end := m.SymtabVaddr + uint64(len(m.symtab))
	for _, tag := range []elf.DynTag{elf.DT_STRTAB, elf.DT_VERSYM, elf.DT_VERDEF, elf.DT_VERNEED, elf.DT_RELA, elf.DT_JMPREL, dtRELR} {
		if next := d[tag]; next > m.SymtabVaddr {
			end = min(end, next)
		}
	}
	var n uint32
	for uint64(n+1)*symSize <= end-m.SymtabVaddr && m.checkSymbol(n) == nil {
		n++
	}
	return n
}

// named compares a symbol's name without copying it.
func (m *Image) named(r rawSymbol, name string) bool {
	b, ok := slice(m.strtab, uint64(r.name), uint64(len(name))+1)
	return ok && b[len(name)] == 0 && string(b[:len(name)]) == name
}

// Exports returns all definitions that other objects can bind to, hidden
// versions included, in the order of the symbol table.
func (m *Image) Exports() iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		for i := range m.SymbolCount {
			r, ok := m.raw(i)
			if !ok || !r.visible() {
				continue
			}
			if s, err := m.symbol(i); err == nil && !yield(s) {
				return
			}
		}
	}
}

// Lookup finds what dlsym and dlvsym find. Without a version it is the default version
// or an unversioned one. With a version it is that version, hidden or not, or a
// definition without any version.
func (m *Image) Lookup(name, version string) (Symbol, bool) {
	return m.lookup(name, version, firstVersion)
}

// Bind finds the definition that a relocation of another object binds to. Without a
// version it is the first one that the file defines, hidden or not: who was linked
// before there were versions gets what there was then. Else it is what Lookup finds.
func (m *Image) Bind(name, version string) (Symbol, bool) {
	return m.lookup(name, version, firstVersion+1)
}

// firstVersion is the index of the first version that a file defines. Below are
// VER_NDX_LOCAL and VER_NDX_GLOBAL.
const firstVersion = 2

// lookup takes versions from the index `newer` on only if one is the default.
func (m *Image) lookup(name, version string, newer int) (Symbol, bool) {
	var found uint32
	versioned := 0
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return Symbol{}, false
	}
	for i := range m.candidates(name) {
		r, ok := m.raw(i)
		if !ok || !r.visible() || !m.named(r, name) {
			continue
		}
		switch m.match(i, version, newer) {
		case matches:
			s, err := m.symbol(i)
			return s, err == nil
		case matchesIfOnly:
			found = i
			versioned++
		}
	}
	if versioned != 1 {
		return Symbol{}, false
	}
	s, err := m.symbol(found)
	return s, err == nil
}

type verdict int

const (
	differs verdict = iota
	matches
	matchesIfOnly // unless another definition of the name does so too
)

// match applies the version rules of check_match in glibc's elf/dl-lookup.c.
func (m *Image) match(index uint32, wanted string, newer int) verdict {
	v, hidden, err := m.versionOf(index)
	if err != nil {
		return differs
	}
	unversioned := v.name == "" || v.base
	switch {
	case wanted == "" && (unversioned || v.index < newer), wanted != "" && !unversioned && v.name == wanted:
		return matches
	case wanted == "" && !hidden:
		return matchesIfOnly
	case wanted != "" && unversioned && !hidden:
		return matches
	}
	return differs
}
