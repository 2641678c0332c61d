// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"fmt"
)

// pageSize is the smallest page of x86-64, in bytes.
const pageSize = 4096

// FileID tells files apart, and a file from what it was when it was opened.
// Parse leaves it zero.
type FileID struct {
	Dev, Ino            uint64
	Size                int64 // bytes
	MtimeSec, MtimeNsec int64
}

// Range is a piece of the address space. Size 0 means that there is none.
type Range struct {
	Vaddr, Size uint64
}

// end is the first address behind r. Ranges in an image are checked not to wrap.
func (r Range) end() uint64 { return r.Vaddr + r.Size }

// Load is a PT_LOAD segment: Filesz bytes from file offset Offset on, then zeros
// up to Memsz bytes.
type Load struct {
	Vaddr, Offset, Filesz, Memsz uint64
	Flags                        elf.ProgFlag
	Align                        uint64 // a power of two; the load bias must be a multiple
}

func (l Load) end() uint64     { return l.Vaddr + l.Memsz }
func (l Load) fileEnd() uint64 { return l.Vaddr + l.Filesz }

// TLS is the PT_TLS segment, the initial thread-local storage of a thread.
// Memsz 0 means that there is none.
type TLS struct {
	Vaddr, Filesz, Memsz uint64
	Align                uint64 // a power of two
}

// Image is a parsed file. Fields that the file does not give are zero.
type Image struct {
	Path string
	ID   FileID

	Type       elf.Type // ET_DYN or ET_EXEC
	Entry      uint64
	Interp     string // PT_INTERP
	Loads      []Load // ascending, without a page in common
	TLS        TLS
	Relro      Range
	EHFrameHdr Range
	ExecStack  bool   // wants an executable stack; so does a file without PT_GNU_STACK
	PhdrVaddr  uint64 // of the program header table, 0: no segment holds it
	Phnum      int

	Dynamic           Range
	Soname            string
	Needed            []string
	Rpath, Runpath    string
	Auxiliary         string // DT_AUXILIARY: the object whose symbols go before this one's
	Flags, Flags1     uint64 // DT_FLAGS, DT_FLAGS_1
	TextRel, Symbolic bool   // by their own tags or by DT_FLAGS

	Init, Fini                         uint64 // DT_INIT, DT_FINI; 0: none
	PreinitArray, InitArray, FiniArray Range  // of 8-byte function addresses

	SymtabVaddr, StrtabVaddr    uint64
	StrtabSize                  uint64 // bytes
	GNUHashVaddr, SysVHashVaddr uint64
	VersymVaddr, VerdefVaddr    uint64
	VerdefNum                   int
	SymbolCount                 uint32 // of the dynamic symbol table, as far as known; references may be missing

	file  []byte // the whole file; nil when closed
	unmap func() error

	symtab, versym []byte // from the table's start to the end of what the file has of its segment
	strtab         []byte // ends with a NUL
	gnu            *gnuHash
	sysv           *sysvHash
	versions       []version // by version index
	relr           Range
	rela, jmprel   Range
}

// Parse reads an image from memory. It keeps data, which must not change; path
// is for messages and the Path field. The error is nil if and only if the image
// is not.
func Parse(path string, data []byte) (*Image, error) {
	m := &Image{Path: path, file: data}
	if err := m.parse(); err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	return m, nil
}

func (m *Image) parse() error {
	progs, off, err := m.parseHeader()
	if err != nil {
		return err
	}
	if err := m.parseSegments(progs); err != nil {
		return err
	}
	m.setPhdr(off)
	if m.Dynamic.Size == 0 {
		return nil // static
	}
	if err := m.parseDynamic(); err != nil {
		return fmt.Errorf("dynamic section: %w", err)
	}
	return nil
}

// Close unmaps a file that Open mapped. A second call does nothing.
func (m *Image) Close() error {
	unmap := m.unmap
	m.unmap, m.file = nil, nil
	m.symtab, m.versym, m.strtab = nil, nil, nil
	m.gnu, m.sysv = nil, nil
	if unmap == nil {
		return nil
	}
	if err := unmap(); err != nil {
		return fmt.Errorf("close %s: %w", m.Path, err)
	}
	return nil
}

// Span is the piece of address space that the loads take, in whole pages.
func (m *Image) Span() Range {
	low := pageDown(m.Loads[0].Vaddr)
	return Range{Vaddr: low, Size: pageUp(m.Loads[len(m.Loads)-1].end()) - low}
}

// Constant tells whether what is at an address cannot be written once the file is
// relocated.
func (m *Image) Constant(vaddr uint64) bool {
	l := m.load(vaddr)
	return vaddr-m.Relro.Vaddr < m.Relro.Size || l != nil && l.Flags&elf.PF_W == 0
}

func pageDown(a uint64) uint64 { return a &^ (pageSize - 1) }
func pageUp(a uint64) uint64   { return pageDown(a + pageSize - 1) }
