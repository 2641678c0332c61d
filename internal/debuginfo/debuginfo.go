// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"slices"
)

// File is what an ELF file says about its code. It keeps no file open.
type File struct {
	functions []function  // by address, one for each
	debug     *dwarf.Data // nil: there is no debugging information
}

type function struct {
	name       string
	begin, end uint64
}

// Place is what is at an address. A field that is not known is empty.
type Place struct {
	Function string
	Offset   uint64 // bytes from the function's begin
	Source   string // the source file, as the compiler was told of it
	Line     int
}

// maxDebug is how many bytes of debugging information are read, after decompression. A
// browser's would take gigabytes, and the reader wants one line of it.
const maxDebug = 128 << 20

// Folder is where systems keep debugging information that is in files of its own.
const Folder = "/usr/lib/debug"

// Open reads the symbols of an ELF file and finds its debugging information: in the file, or
// in a separate file below the folder debug, see [Folder]. A file without either is no error.
func Open(path, debug string) (*File, error) {
	own, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer own.Close()
	f := &File{functions: functionsOf(own)}
	f.debug = read(own)
	if f.debug != nil {
		return f, nil
	}
	if separate := Separate(path, own, debug); separate != nil {
		defer separate.Close()
		f.functions = join(f.functions, functionsOf(separate))
		f.debug = read(separate)
	}
	return f, nil
}

// At returns what is at an address, which is counted as the file counts: it is the address in
// memory less the one to which the file's address 0 is loaded.
func (f *File) At(address uint64) (p Place) {
	// The functions that begin at the address or before it come first.
	after, _ := slices.BinarySearchFunc(f.functions, address, func(g function, at uint64) int {
		return cmp.Or(cmp.Compare(g.begin, at), -1)
	})
	if after > 0 && address < f.functions[after-1].end {
		g := f.functions[after-1]
		p.Function, p.Offset = g.name, address-g.begin
	}
	p.Source, p.Line = f.line(address)
	return p
}

func (p Place) String() string {
	text := "?"
	if p.Function != "" {
		text = p.Function
	}
	if p.Source != "" {
		text += fmt.Sprintf(" %s:%d", p.Source, p.Line)
	}
	return text
}

// line returns the source line of an address. Go's readers of DWARF return an error for what
// they do not know; the line is then not known.
func (f *File) line(address uint64) (source string, line int) {
	if f.debug == nil {
		return "", 0
	}
	unit, err := f.debug.Reader().SeekPC(address)
	if err != nil {
		return "", 0
	}
	lines, err := f.debug.LineReader(unit)
	if err != nil || lines == nil {
		return "", 0
	}
	var entry dwarf.LineEntry
	if err := lines.SeekPC(address, &entry); err != nil || entry.File == nil {
		return "", 0
	}
	return entry.File.Name, entry.Line
}

// functionsOf returns the functions of a file's symbol tables. The full table may have been
// stripped; the dynamic one has what is exported.
func functionsOf(file *elf.File) (functions []function) {
	full, _ := file.Symbols() // an error means that there is no such table
	dynamic, _ := file.DynamicSymbols()
	for _, s := range slices.Concat(full, dynamic) {
		kind := elf.ST_TYPE(s.Info)
		if s.Name == "" || kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC || int(s.Section) >= len(file.Sections) || s.Section == elf.SHN_UNDEF {
			continue
		}
		end := s.Value + s.Size
		if s.Size == 0 { // assembly may leave sizes out
			section := file.Sections[s.Section]
			end = section.Addr + section.Size
		}
		functions = append(functions, function{s.Name, s.Value, end})
	}
	return join(functions, nil)
}

// join returns the functions of two lists by address, one for each address.
func join(a, b []function) []function {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b function) int { return cmp.Compare(a.begin, b.begin) })
	return slices.CompactFunc(all, func(a, b function) bool { return a.begin == b.begin })
}

// read returns the debugging information of a file; nil: it has none that can be read.
func read(file *elf.File) *dwarf.Data {
	var size uint64
	for _, s := range file.Sections {
		if isDebug(s.Name) && s.Type != elf.SHT_NOBITS {
			size += s.Size
		}
	}
	if size == 0 || size > maxDebug {
		return nil
	}
	data, err := file.DWARF()
	if err != nil || data.Reader() == nil {
		return nil
	}
	return data
}
