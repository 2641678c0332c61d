// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sort"
)

const (
	// maxVaddr ends the user half of a four-level address space.
	maxVaddr = 1 << 47
	// maxPath is PATH_MAX, the limit for names of files.
	maxPath = 4096
)

// parseSegments reads the program headers, loads first: the rest refer to them.
func (m *Image) parseSegments(progs []elf.Prog64) error {
	for i := range progs {
		p := &progs[i]
		if elf.ProgType(p.Type) != elf.PT_LOAD {
			continue
		}
		if err := m.addLoad(p); err != nil {
			return fmt.Errorf("program header %d (PT_LOAD): %w", i, err)
		}
	}
	if len(m.Loads) == 0 {
		return errors.New("program headers: no PT_LOAD")
	}
	m.ExecStack = true // without PT_GNU_STACK, see DEFAULT_STACK_PERMS in glibc
	for i := range progs {
		p := &progs[i]
		if err := m.addSegment(p); err != nil {
			return fmt.Errorf("program header %d (%v): %w", i, elf.ProgType(p.Type), err)
		}
	}
	return nil
}

func (m *Image) addLoad(p *elf.Prog64) error {
	switch {
	case p.Memsz == 0:
		return nil
	case p.Filesz > p.Memsz:
		return fmt.Errorf("p_filesz %#x above p_memsz %#x", p.Filesz, p.Memsz)
	case p.Vaddr >= maxVaddr || p.Memsz > maxVaddr-p.Vaddr:
		return fmt.Errorf("p_vaddr %#x, p_memsz %#x: beyond the address space", p.Vaddr, p.Memsz)
	case bits.OnesCount64(p.Align) > 1:
		return fmt.Errorf("p_align %#x is not a power of two", p.Align)
	}
	if p.Filesz > 0 {
		if _, ok := slice(m.file, p.Off, p.Filesz); !ok {
			return fmt.Errorf("p_offset %#x, p_filesz %#x: %w", p.Off, p.Filesz, ErrTruncated)
		}
		if (p.Vaddr-p.Off)%max(p.Align, pageSize) != 0 {
			return fmt.Errorf("p_vaddr %#x and p_offset %#x differ modulo p_align %#x", p.Vaddr, p.Off, p.Align)
		}
	}
	if n := len(m.Loads); n > 0 && pageDown(p.Vaddr) < pageUp(m.Loads[n-1].end()) {
		return fmt.Errorf("p_vaddr %#x is not behind the pages of the segment before it, up to %#x", p.Vaddr, m.Loads[n-1].end())
	}
	m.Loads = append(m.Loads, Load{
		Vaddr: p.Vaddr, Offset: p.Off, Filesz: p.Filesz, Memsz: p.Memsz,
		Flags: elf.ProgFlag(p.Flags), Align: max(p.Align, 1),
	})
	return nil
}

func (m *Image) addSegment(p *elf.Prog64) error {
	r := Range{Vaddr: p.Vaddr, Size: p.Memsz}
	switch elf.ProgType(p.Type) {
	case elf.PT_INTERP:
		return m.setInterp(p)
	case elf.PT_TLS:
		return m.setTLS(p)
	case elf.PT_GNU_STACK:
		m.ExecStack = elf.ProgFlag(p.Flags)&elf.PF_X != 0
	case elf.PT_DYNAMIC:
		if _, err := m.view(p.Vaddr, p.Memsz); err != nil {
			return err
		}
		m.Dynamic = r
	case elf.PT_GNU_EH_FRAME:
		if _, err := m.view(p.Vaddr, p.Memsz); err != nil {
			return err
		}
		m.EHFrameHdr = r
	case elf.PT_GNU_RELRO:
		// The linker may round its end up to a page.
		l := m.load(p.Vaddr)
		if p.Memsz > 0 && (l == nil || p.Memsz > pageUp(l.end())-p.Vaddr) {
			return fmt.Errorf("p_vaddr %#x, p_memsz %#x: %w", p.Vaddr, p.Memsz, errOutside)
		}
		m.Relro = r
	}
	return nil
}

func (m *Image) setInterp(p *elf.Prog64) error {
	name, ok := slice(m.file, p.Off, p.Filesz)
	if !ok {
		return fmt.Errorf("p_offset %#x, p_filesz %#x: %w", p.Off, p.Filesz, ErrTruncated)
	}
	name, _, ok = bytes.Cut(name[:min(len(name), maxPath)], []byte{0})
	if !ok {
		return errors.New("path does not end")
	}
	m.Interp = string(name)
	return nil
}

func (m *Image) setTLS(p *elf.Prog64) error {
	switch {
	case p.Filesz > p.Memsz:
		return fmt.Errorf("p_filesz %#x above p_memsz %#x", p.Filesz, p.Memsz)
	case bits.OnesCount64(p.Align) > 1:
		return fmt.Errorf("p_align %#x is not a power of two", p.Align)
	case p.Vaddr >= maxVaddr || p.Memsz > maxVaddr-p.Vaddr || p.Align > maxVaddr:
		// Zeros at its end take no room among the loads.
		return fmt.Errorf("p_vaddr %#x, p_memsz %#x, p_align %#x: beyond the address space", p.Vaddr, p.Memsz, p.Align)
	}
	if _, err := m.view(p.Vaddr, p.Filesz); err != nil {
		return err
	}
	if p.Memsz > 0 {
		m.TLS = TLS{Vaddr: p.Vaddr, Filesz: p.Filesz, Memsz: p.Memsz, Align: max(p.Align, 1)}
	}
	return nil
}

// setPhdr finds the program header table, at file offset off, in the loads.
func (m *Image) setPhdr(off uint64) {
	size := uint64(m.Phnum) * phdrSize
	for _, l := range m.Loads {
		if off >= l.Offset && off-l.Offset <= l.Filesz && size <= l.Filesz-(off-l.Offset) {
			m.PhdrVaddr = l.Vaddr + (off - l.Offset)
			return
		}
	}
}

// load returns the segment that holds an address, or nil.
func (m *Image) load(vaddr uint64) *Load {
	i := sort.Search(len(m.Loads), func(i int) bool { return vaddr < m.Loads[i].end() })
	if i == len(m.Loads) || vaddr < m.Loads[i].Vaddr {
		return nil
	}
	return &m.Loads[i]
}

// view returns n bytes of the file by their address. They must lie in one
// segment, and not among its zeros.
func (m *Image) view(vaddr, n uint64) ([]byte, error) {
	if m.file == nil {
		return nil, os.ErrClosed
	}
	if n == 0 {
		return nil, nil
	}
	l := m.load(vaddr)
	if l == nil || vaddr >= l.fileEnd() || n > l.fileEnd()-vaddr {
		return nil, fmt.Errorf("%#x bytes at %#x: %w", n, vaddr, errOutside)
	}
	b, _ := slice(m.file, l.Offset+(vaddr-l.Vaddr), n)
	return b, nil
}

// rest returns all that the file has of a segment from an address on, at least
// one byte.
func (m *Image) rest(vaddr uint64) ([]byte, error) {
	l := m.load(vaddr)
	if l == nil || vaddr >= l.fileEnd() {
		return nil, fmt.Errorf("%#x %w", vaddr, errOutside)
	}
	return m.view(vaddr, l.fileEnd()-vaddr)
}

// maxZeros limits what Bytes makes up, in bytes: a file of 4 KiB may state a
// segment of many TiB.
const maxZeros = 1 << 28

// Bytes returns a copy of n bytes at an address before relocation. They must lie
// in one segment; what the file does not hold is zero, 256 MiB of it at most.
func (m *Image) Bytes(vaddr, n uint64) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("read %#x bytes at %#x of %s: %w", n, vaddr, m.Path, err)
	}
	if m.file == nil {
		return fail(os.ErrClosed)
	}
	l := m.load(vaddr)
	if l == nil || n > l.end()-vaddr {
		return fail(errOutside)
	}
	var inFile uint64
	if vaddr < l.fileEnd() {
		inFile = min(n, l.fileEnd()-vaddr)
	}
	if n-inFile > maxZeros {
		return fail(errors.New("too many zeros"))
	}
	src, err := m.view(vaddr, inFile)
	if err != nil {
		return fail(err)
	}
	out := make([]byte, n)
	copy(out, src)
	return out, nil
}
