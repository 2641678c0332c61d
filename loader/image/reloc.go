// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Reloc is a relocation. For R_X86_64_RELATIVE, Sym is 0.
type Reloc struct {
	Offset uint64 // the address to store at
	Type   elf.R_X86_64
	Sym    uint32 // index for Symbol
	Addend int64
}

// setRelocs finds the tables and checks that they lie in the file.
func (m *Image) setRelocs(d dynamic) error {
	if d[elf.DT_REL] != 0 {
		return errors.New("DT_REL: x86-64 has relocations with addends only")
	}
	if kind, ok := d[elf.DT_PLTREL]; ok && elf.DynTag(kind) != elf.DT_RELA {
		return fmt.Errorf("DT_PLTREL %d is not DT_RELA", kind)
	}
	if err := entrySize(d, elf.DT_RELAENT, relaSize); err != nil {
		return err
	}
	if err := entrySize(d, dtRELRENT, 8); err != nil {
		return err
	}
	var err error
	if m.relr, err = m.table(d, dtRELR, dtRELRSZ, 8); err != nil {
		return err
	}
	if m.rela, err = m.table(d, elf.DT_RELA, elf.DT_RELASZ, relaSize); err != nil {
		return err
	}
	if m.jmprel, err = m.table(d, elf.DT_JMPREL, elf.DT_PLTRELSZ, relaSize); err != nil {
		return err
	}
	// Some linkers count the second table's entries in the first one's size too.
	if m.jmprel.Size > 0 && m.jmprel.Vaddr >= m.rela.Vaddr && m.rela.end() == m.jmprel.end() {
		m.rela.Size -= m.jmprel.Size
	}
	return nil
}

// Relocs returns all relocations in the order to apply them: those of DT_RELR,
// whose addend is what the file has at the address, then DT_RELA, then
// DT_JMPREL. Each is checked to store inside one writable segment, or any one
// if TextRel is set. COPY and IRELATIVE stand where the file has them.
func (m *Image) Relocs() ([]Reloc, error) {
	out := make([]Reloc, 0, (m.rela.Size+m.jmprel.Size)/relaSize)
	out, err := m.appendRelr(out)
	if err != nil {
		return nil, fmt.Errorf("read relocations of %s: DT_RELR: %w", m.Path, err)
	}
	for _, t := range []struct {
		name string
		at   Range
	}{{"DT_RELA", m.rela}, {"DT_JMPREL", m.jmprel}} {
		table, err := m.view(t.at.Vaddr, t.at.Size)
		if err != nil {
			return nil, fmt.Errorf("read relocations of %s: %s: %w", m.Path, t.name, err)
		}
		for i := 0; len(table) > 0; i, table = i+1, table[relaSize:] {
			r := decodeRela(table)
			if err := m.checkReloc(r); err != nil {
				return nil, fmt.Errorf("read relocations of %s: %s[%d]: %w", m.Path, t.name, i, err)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func decodeRela(b []byte) Reloc {
	le := binary.LittleEndian
	info := le.Uint64(b[8:])
	return Reloc{
		Offset: le.Uint64(b), Type: elf.R_X86_64(info & 0xffffffff), Sym: uint32(info >> 32),
		Addend: int64(le.Uint64(b[16:])),
	}
}

// appendRelr expands DT_RELR (gABI, "Relative Relocation Table"): an even word is
// an address to relocate; an odd one has a bit for each of the 63 words that
// follow what came before. Addresses ascend, which also bounds their number.
func (m *Image) appendRelr(out []Reloc) ([]Reloc, error) {
	table, err := m.view(m.relr.Vaddr, m.relr.Size)
	if err != nil {
		return nil, err
	}
	var next uint64
	for i := 0; len(table) > 0; i, table = i+1, table[8:] {
		entry := binary.LittleEndian.Uint64(table)
		where, bitmap := next, entry>>1
		if entry&1 == 0 {
			if entry < next {
				return nil, fmt.Errorf("[%d]: address %#x is below %#x, that of the entry before", i, entry, next)
			}
			where, bitmap, next = entry, 1, entry+8
		} else {
			next += 63 * 8
		}
		for ; bitmap != 0; bitmap &= bitmap - 1 {
			r, err := m.relative(where + 8*uint64(bits.TrailingZeros64(bitmap)))
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// relative makes the relocation of a word that holds its own addend.
func (m *Image) relative(vaddr uint64) (Reloc, error) {
	addend, err := m.view(vaddr, 8)
	if err != nil {
		return Reloc{}, err
	}
	r := Reloc{Offset: vaddr, Type: elf.R_X86_64_RELATIVE, Addend: int64(binary.LittleEndian.Uint64(addend))}
	return r, m.checkReloc(r)
}

func (m *Image) checkReloc(r Reloc) error {
	if r.Type == elf.R_X86_64_NONE {
		return nil
	}
	size := storeSize(r.Type)
	if r.Sym != 0 {
		s, ok := m.raw(r.Sym)
		if !ok {
			return fmt.Errorf("%v: symbol %d outside the symbol table", r.Type, r.Sym)
		}
		if r.Type == elf.R_X86_64_COPY {
			size = s.size
		}
	}
	l := m.load(r.Offset)
	if l == nil || size > l.end()-r.Offset || l.Flags&elf.PF_W == 0 && !m.TextRel {
		return fmt.Errorf("%v: %d bytes at %#x outside the writable segments", r.Type, size, r.Offset)
	}
	return nil
}

// storeSize is the number of bytes that a relocation writes (psABI x86-64, table
// 4.9), 8 for a type it does not have.
func storeSize(t elf.R_X86_64) uint64 {
	switch t {
	case elf.R_X86_64_8, elf.R_X86_64_PC8:
		return 1
	case elf.R_X86_64_16, elf.R_X86_64_PC16:
		return 2
	case elf.R_X86_64_32, elf.R_X86_64_32S, elf.R_X86_64_PC32, elf.R_X86_64_PLT32,
		elf.R_X86_64_SIZE32, elf.R_X86_64_TPOFF32, elf.R_X86_64_DTPOFF32:
		return 4
	case elf.R_X86_64_TLSDESC:
		return 16
	}
	return 8
}
