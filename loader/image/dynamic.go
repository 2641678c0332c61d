// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// maxNeeded limits the DT_NEEDED entries of one object.
const maxNeeded = 4096

// maxString limits DT_RPATH and DT_RUNPATH, in bytes.
const maxString = 1 << 20

// dynamic holds the values of the tags that are read, the last one where a tag
// occurs twice, as in ld.so.
type dynamic map[elf.DynTag]uint64

// single lists the tags that dynamic holds; DT_NEEDED may occur often.
var single = map[elf.DynTag]bool{
	elf.DT_SONAME: true, elf.DT_RPATH: true, elf.DT_RUNPATH: true, elf.DT_AUXILIARY: true,
	elf.DT_FLAGS: true, elf.DT_FLAGS_1: true, elf.DT_TEXTREL: true, elf.DT_SYMBOLIC: true,
	elf.DT_INIT: true, elf.DT_FINI: true,
	elf.DT_PREINIT_ARRAY: true, elf.DT_PREINIT_ARRAYSZ: true,
	elf.DT_INIT_ARRAY: true, elf.DT_INIT_ARRAYSZ: true,
	elf.DT_FINI_ARRAY: true, elf.DT_FINI_ARRAYSZ: true,
	elf.DT_SYMTAB: true, elf.DT_SYMENT: true, elf.DT_STRTAB: true, elf.DT_STRSZ: true,
	elf.DT_GNU_HASH: true, elf.DT_HASH: true,
	elf.DT_VERSYM: true, elf.DT_VERDEF: true, elf.DT_VERDEFNUM: true,
	elf.DT_VERNEED: true, elf.DT_VERNEEDNUM: true,
	elf.DT_RELA: true, elf.DT_RELASZ: true, elf.DT_RELAENT: true, elf.DT_REL: true,
	elf.DT_JMPREL: true, elf.DT_PLTRELSZ: true, elf.DT_PLTREL: true,
	dtRELR: true, dtRELRSZ: true, dtRELRENT: true,
}

// Of the gABI since 2022; debug/elf does not name them.
const (
	dtRELRSZ  elf.DynTag = 35
	dtRELR    elf.DynTag = 36
	dtRELRENT elf.DynTag = 37
)

func (m *Image) parseDynamic() error {
	d, needed, err := m.readDynamic()
	if err != nil {
		return err
	}
	for _, step := range []func(dynamic) error{
		m.setStrings, m.setFlags, m.setInits, m.setRelocs, m.setVersions, m.setSymbols,
	} {
		if err := step(d); err != nil {
			return err
		}
	}
	for _, off := range needed {
		name, err := m.str(off, maxPath)
		if err != nil {
			return fmt.Errorf("DT_NEEDED: %w", err)
		}
		m.Needed = append(m.Needed, name)
	}
	return nil
}

// readDynamic returns the values by tag, and those of DT_NEEDED in order.
func (m *Image) readDynamic() (dynamic, []uint64, error) {
	table, err := m.view(m.Dynamic.Vaddr, m.Dynamic.Size)
	if err != nil {
		return nil, nil, err
	}
	d := dynamic{}
	var needed []uint64
	for ; len(table) >= dynSize; table = table[dynSize:] {
		tag := elf.DynTag(binary.LittleEndian.Uint64(table))
		value := binary.LittleEndian.Uint64(table[8:])
		switch {
		case tag == elf.DT_NULL:
			return d, needed, nil
		case tag == elf.DT_NEEDED && len(needed) == maxNeeded:
			return nil, nil, fmt.Errorf("more than %d DT_NEEDED", maxNeeded)
		case tag == elf.DT_NEEDED:
			needed = append(needed, value)
		case single[tag]:
			d[tag] = value
		}
	}
	return nil, nil, errors.New("no DT_NULL at its end")
}

func (m *Image) setStrings(d dynamic) error {
	m.StrtabVaddr, m.StrtabSize = d[elf.DT_STRTAB], d[elf.DT_STRSZ]
	if m.StrtabVaddr != 0 {
		var err error
		if m.strtab, err = m.view(m.StrtabVaddr, m.StrtabSize); err != nil {
			return fmt.Errorf("DT_STRTAB: %w", err)
		}
		// So every offset into it is a name that ends.
		if n := len(m.strtab); n == 0 || m.strtab[n-1] != 0 {
			return fmt.Errorf("DT_STRTAB: the table's %#x bytes do not end with NUL", n)
		}
	}
	for _, s := range []struct {
		tag   elf.DynTag
		limit int
		value *string
	}{
		{elf.DT_SONAME, maxPath, &m.Soname}, {elf.DT_AUXILIARY, maxPath, &m.Auxiliary}, {elf.DT_RPATH, maxString, &m.Rpath}, {elf.DT_RUNPATH, maxString, &m.Runpath},
	} {
		off, ok := d[s.tag]
		if !ok {
			continue
		}
		var err error
		if *s.value, err = m.str(off, s.limit); err != nil {
			return fmt.Errorf("%v: %w", s.tag, err)
		}
	}
	return nil
}

// str copies a string of at most limit bytes from the string table.
func (m *Image) str(off uint64, limit int) (string, error) {
	if off >= uint64(len(m.strtab)) {
		return "", fmt.Errorf("name at %#x outside the string table of %#x bytes", off, len(m.strtab))
	}
	name := m.strtab[off:]
	// Many names may lie in one endless string.
	n := bytes.IndexByte(name[:min(len(name), limit+1)], 0)
	if n < 0 {
		return "", fmt.Errorf("name at %#x has more than %d bytes", off, limit)
	}
	return string(name[:n]), nil
}

func (m *Image) setFlags(d dynamic) error {
	m.Flags, m.Flags1 = d[elf.DT_FLAGS], d[elf.DT_FLAGS_1]
	_, textRel := d[elf.DT_TEXTREL]
	_, symbolic := d[elf.DT_SYMBOLIC]
	m.TextRel = textRel || elf.DynFlag(m.Flags)&elf.DF_TEXTREL != 0
	m.Symbolic = symbolic || elf.DynFlag(m.Flags)&elf.DF_SYMBOLIC != 0
	return nil
}

func (m *Image) setInits(d dynamic) error {
	m.Init, m.Fini = d[elf.DT_INIT], d[elf.DT_FINI]
	for _, f := range []struct {
		tag   elf.DynTag
		vaddr uint64
	}{{elf.DT_INIT, m.Init}, {elf.DT_FINI, m.Fini}} {
		if f.vaddr == 0 {
			continue
		}
		if l := m.load(f.vaddr); l == nil || l.Flags&elf.PF_X == 0 {
			return fmt.Errorf("%v %#x outside the executable segments", f.tag, f.vaddr)
		}
	}
	for _, a := range []struct {
		tag, size elf.DynTag
		r         *Range
	}{
		{elf.DT_PREINIT_ARRAY, elf.DT_PREINIT_ARRAYSZ, &m.PreinitArray},
		{elf.DT_INIT_ARRAY, elf.DT_INIT_ARRAYSZ, &m.InitArray},
		{elf.DT_FINI_ARRAY, elf.DT_FINI_ARRAYSZ, &m.FiniArray},
	} {
		var err error
		if *a.r, err = m.table(d, a.tag, a.size, 8); err != nil {
			return err
		}
	}
	return nil
}

// table returns the place of a table of entries of entry bytes, checked to lie
// in the file; zero where either tag is missing.
func (m *Image) table(d dynamic, tag, sizeTag elf.DynTag, entry uint64) (Range, error) {
	r := Range{Vaddr: d[tag], Size: d[sizeTag]}
	if r.Vaddr == 0 || r.Size == 0 {
		return Range{}, nil
	}
	if r.Size%entry != 0 {
		return Range{}, fmt.Errorf("%s %#x is no multiple of %d", tagName(sizeTag), r.Size, entry)
	}
	if _, err := m.view(r.Vaddr, r.Size); err != nil {
		return Range{}, fmt.Errorf("%s: %w", tagName(tag), err)
	}
	return r, nil
}

func tagName(tag elf.DynTag) string {
	switch tag {
	case dtRELR:
		return "DT_RELR"
	case dtRELRSZ:
		return "DT_RELRSZ"
	case dtRELRENT:
		return "DT_RELRENT"
	}
	return tag.String()
}

// entrySize complains when a tag gives the size of a table's entries as
// something else than the ABI does.
func entrySize(d dynamic, tag elf.DynTag, want uint64) error {
	if got, ok := d[tag]; ok && got != want {
		return fmt.Errorf("%s %d, not %d", tagName(tag), got, want)
	}
	return nil
}
