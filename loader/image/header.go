// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// Sizes of the ELF64 structures in bytes (System V gABI, chapters 4 and 5).
const (
	ehdrSize = 64
	phdrSize = 56
	symSize  = 24
	relaSize = 24
	dynSize  = 16
)

// parseHeader checks the ELF header and returns the program headers and their
// file offset.
func (m *Image) parseHeader() (progs []elf.Prog64, off uint64, err error) {
	if !bytes.HasPrefix(m.file, []byte(elf.ELFMAG)) {
		return nil, 0, ErrNotELF
	}
	if err := m.checkMachine(); err != nil {
		return nil, 0, fmt.Errorf("ELF header: %w", err)
	}
	var h elf.Header64
	if _, err := binary.Decode(m.file, binary.LittleEndian, &h); err != nil {
		return nil, 0, fmt.Errorf("ELF header: %w", ErrTruncated)
	}
	m.Type, m.Entry = elf.Type(h.Type), h.Entry
	switch {
	case m.Type != elf.ET_DYN && m.Type != elf.ET_EXEC:
		return nil, 0, fmt.Errorf("ELF header: e_type %v: %w", m.Type, ErrType)
	case h.Version != uint32(elf.EV_CURRENT) || m.file[elf.EI_VERSION] != byte(elf.EV_CURRENT):
		return nil, 0, fmt.Errorf("ELF header: e_version %d, not 1", h.Version)
	case h.Phentsize != phdrSize:
		return nil, 0, fmt.Errorf("ELF header: e_phentsize %d, not %d", h.Phentsize, phdrSize)
	case h.Phnum == 0xffff:
		// PN_XNUM: the number would stand in a section header, elf(5).
		return nil, 0, fmt.Errorf("ELF header: e_phnum %#x: too many program headers", h.Phnum)
	}
	m.Phnum = int(h.Phnum)
	table, ok := slice(m.file, h.Phoff, uint64(h.Phnum)*phdrSize)
	if !ok {
		return nil, 0, fmt.Errorf("ELF header: e_phoff %#x, e_phnum %d: %w", h.Phoff, h.Phnum, ErrTruncated)
	}
	progs = make([]elf.Prog64, h.Phnum)
	if _, err := binary.Decode(table, binary.LittleEndian, progs); err != nil {
		return nil, 0, fmt.Errorf("program headers: %w", err)
	}
	return progs, h.Phoff, nil
}

// checkMachine needs e_ident and e_machine only, which stand at the same place
// in files of any class.
func (m *Image) checkMachine() error {
	const machineAt, need = 18, 20
	if len(m.file) < need {
		return ErrTruncated
	}
	class, order := elf.Class(m.file[elf.EI_CLASS]), elf.Data(m.file[elf.EI_DATA])
	machine := elf.Machine(binary.LittleEndian.Uint16(m.file[machineAt:]))
	if order == elf.ELFDATA2MSB {
		machine = elf.Machine(binary.BigEndian.Uint16(m.file[machineAt:]))
	}
	if class != elf.ELFCLASS64 || order != elf.ELFDATA2LSB || machine != elf.EM_X86_64 {
		return fmt.Errorf("%v, %v, %v: %w", machine, class, order, ErrMachine)
	}
	return nil
}

// slice is b[off:off+n] where b is long enough.
func slice(b []byte, off, n uint64) ([]byte, bool) {
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, false
	}
	return b[off : off+n : off+n], true
}
