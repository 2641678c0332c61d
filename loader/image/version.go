// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// Bits of an entry of DT_VERSYM (LSB core, symbol versioning).
const (
	versionIndex  = 0x7fff
	versionHidden = 0x8000
)

// Flags of vd_flags and vna_flags.
const (
	verFlagBase = 1
	verFlagWeak = 2
)

// Sizes of Verdef, Verdaux, Verneed and Vernaux in bytes.
const (
	verdefSize  = 20
	verdauxSize = 8
	verneedSize = 16
	vernauxSize = 16
)

// version is what a version index stands for.
type version struct {
	index   int // in the file
	name    string
	library string // of a needed version, the file it is wanted from
	defined bool
	base    bool // names the file itself, not a version
	weak    bool // a needed version that may be absent
}

// NeededVersion is a version that the object wants a library to define.
type NeededVersion struct {
	Library, Version string
	Weak             bool // its absence is no error
}

// NeededVersions returns the versions wanted of other objects, by version index.
func (m *Image) NeededVersions() []NeededVersion {
	var needed []NeededVersion
	for _, v := range m.versions {
		if v.name != "" && !v.defined {
			needed = append(needed, NeededVersion{Library: v.library, Version: v.name, Weak: v.weak})
		}
	}
	return needed
}

// DefinesVersion tells whether the object defines a version. As for ld.so, the
// name of the file itself (VER_FLG_BASE) counts as one.
func (m *Image) DefinesVersion(version string) bool {
	for _, v := range m.versions {
		if v.defined && v.name == version {
			return true
		}
	}
	return false
}

// setVersions reads needs before definitions: where both claim an index, the
// definition has it, as in ld.so.
func (m *Image) setVersions(d dynamic) error {
	var err error
	if m.VersymVaddr = d[elf.DT_VERSYM]; m.VersymVaddr != 0 {
		if m.versym, err = m.rest(m.VersymVaddr); err != nil {
			return fmt.Errorf("DT_VERSYM: %w", err)
		}
	}
	if vaddr := d[elf.DT_VERNEED]; vaddr != 0 {
		if err := m.readVerneed(vaddr, d[elf.DT_VERNEEDNUM]); err != nil {
			return fmt.Errorf("DT_VERNEED: %w", err)
		}
	}
	num := d[elf.DT_VERDEFNUM]
	if vaddr := d[elf.DT_VERDEF]; vaddr != 0 {
		if err := m.readVerdef(vaddr, num); err != nil {
			return fmt.Errorf("DT_VERDEF: %w", err)
		}
		m.VerdefVaddr, m.VerdefNum = vaddr, int(num)
	}
	return nil
}

// walk calls visit with each entry of a chain of at most num entries of size
// bytes, and its offset in table; visit returns the distance to the next entry.
// A distance of 0 ends the chain. An index has 15 bits, so more entries than it
// can tell apart are an error.
func walk(table []byte, off uint64, num uint64, size uint64, visit func(entry []byte, off uint64) (uint32, error)) error {
	if num > versionIndex {
		return fmt.Errorf("%d entries", num)
	}
	for range num {
		entry, ok := slice(table, off, size)
		if !ok {
			return fmt.Errorf("entry at +%#x: %w", off, errOutside)
		}
		next, err := visit(entry, off)
		if err != nil || next == 0 {
			return err
		}
		off += uint64(next)
	}
	return nil
}

func (m *Image) readVerdef(vaddr, num uint64) error {
	table, err := m.rest(vaddr)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	return walk(table, 0, num, verdefSize, func(e []byte, off uint64) (uint32, error) {
		if v := le.Uint16(e); v != 1 {
			return 0, fmt.Errorf("vd_version %d, not 1", v)
		}
		if le.Uint16(e[6:]) == 0 {
			return 0, errors.New("vd_cnt 0: a version without a name")
		}
		aux, ok := slice(table, off+uint64(le.Uint32(e[12:])), verdauxSize)
		if !ok {
			return 0, fmt.Errorf("vd_aux %#x: %w", le.Uint32(e[12:]), errOutside)
		}
		name, err := m.str(uint64(le.Uint32(aux)), maxPath)
		if err != nil {
			return 0, fmt.Errorf("vda_name: %w", err)
		}
		m.setVersion(le.Uint16(e[4:]), version{
			name: name, defined: true, base: le.Uint16(e[2:])&verFlagBase != 0,
		})
		return le.Uint32(e[16:]), nil
	})
}

func (m *Image) readVerneed(vaddr, num uint64) error {
	table, err := m.rest(vaddr)
	if err != nil {
		return err
	}
	var total uint64 // of versions
	le := binary.LittleEndian
	return walk(table, 0, num, verneedSize, func(e []byte, off uint64) (uint32, error) {
		if v := le.Uint16(e); v != 1 {
			return 0, fmt.Errorf("vn_version %d, not 1", v)
		}
		library, err := m.str(uint64(le.Uint32(e[4:])), maxPath)
		if err != nil {
			return 0, fmt.Errorf("vn_file: %w", err)
		}
		count := uint64(le.Uint16(e[2:]))
		if total += count; total > versionIndex {
			return 0, fmt.Errorf("%d versions", total)
		}
		err = walk(table, off+uint64(le.Uint32(e[8:])), count, vernauxSize, func(e []byte, _ uint64) (uint32, error) {
			name, err := m.str(uint64(le.Uint32(e[8:])), maxPath)
			if err != nil {
				return 0, fmt.Errorf("vna_name: %w", err)
			}
			m.setVersion(le.Uint16(e[6:]), version{
				name: name, library: library, weak: le.Uint16(e[4:])&verFlagWeak != 0,
			})
			return le.Uint32(e[12:]), nil
		})
		if err != nil {
			return 0, fmt.Errorf("vn_aux of %s: %w", library, err)
		}
		return le.Uint32(e[12:]), nil
	})
}

func (m *Image) setVersion(index uint16, v version) {
	i := int(index & versionIndex)
	for len(m.versions) <= i {
		m.versions = append(m.versions, version{})
	}
	v.index = i
	m.versions[i] = v
}
