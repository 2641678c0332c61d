// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package globals

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"
)

// declaration is what debug information says of a variable.
type declaration struct {
	name     string // in its scope
	function string // that it is a static variable of; "" if of none
	common   bool   // it is a COMMON block of Fortran
	line     int    // 0 if it is not known
	file     string // "" if it is not known

	source     int64        // number of the file
	declaredAt dwarf.Offset // of the entry that has the number, which tells the unit that it is a number of
}

// The operations of DWARF expressions that are the address of a variable by themselves.
const (
	opAddr  = 0x03 // DW_OP_addr: the eight bytes that follow
	opAddrx = 0xa1 // DW_OP_addrx: an entry of .debug_addr, by its number
)

// declarations reads the variables that have an address, by that, from debug information. A file without any is no error.
// What was found before an error is returned with it.
func declarations(f *elf.File) (map[uint64]*declaration, error) {
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return nil, nil
	}
	found, err := readDeclarations(f)
	if err != nil {
		err = fmt.Errorf("read debug information: %w", err)
	}
	return found, err
}

func readDeclarations(f *elf.File) (map[uint64]*declaration, error) {
	data, err := f.DWARF()
	if err != nil {
		return nil, err
	}
	r := &declarationReader{Reader: data.Reader(), data: data, found: map[uint64]*declaration{}, sources: map[*dwarf.Entry][]*dwarf.LineFile{}}
	if section := f.Section(".debug_addr"); section != nil {
		if r.addresses, err = section.Data(); err != nil {
			return nil, err
		}
	}
	err = r.siblings("")
	for _, d := range r.found {
		d.file = r.source(d.declaredAt, d.source)
	}
	return r.found, err
}

// declarationReader goes over all entries of the debug information once.
type declarationReader struct {
	*dwarf.Reader
	data      *dwarf.Data
	addresses []byte                             // .debug_addr
	found     map[uint64]*declaration            // by address
	units     []*dwarf.Entry                     // compilation units read so far, in the order of their offsets
	sources   map[*dwarf.Entry][]*dwarf.LineFile // source files of units, by their numbers
}

// siblings reads entries up to the end of their list, all of them in a function or, if that is "", in none.
func (r *declarationReader) siblings(function string) error {
	for {
		entry, err := r.Next()
		if err != nil || entry == nil || entry.Tag == 0 {
			return err
		}
		if err := r.read(entry, function); err != nil {
			return err
		}
	}
}

// read notes what an entry declares, and reads its children where there may be variables among them.
func (r *declarationReader) read(entry *dwarf.Entry, function string) error {
	descend := entry.Children
	switch entry.Tag {
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit:
		r.units = append(r.units, entry)
	case dwarf.TagVariable:
		if address, ok := r.address(entry); ok {
			r.note(address, entry, function)
		}
	case dwarf.TagCommonDwarfBlock:
		return r.common(entry)
	case dwarf.TagSubprogram:
		name, _ := r.attribute(entry, dwarf.AttrName)
		function, _ = name.(string)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagSubroutineType:
		descend = false
	}
	if descend {
		return r.siblings(function)
	}
	r.SkipChildren()
	return nil
}

// common notes a COMMON block. gfortran gives addresses to the variables in it only, the first of which begins the block.
func (r *declarationReader) common(block *dwarf.Entry) error {
	for block.Children {
		variable, err := r.Next()
		if err != nil || variable == nil || variable.Tag == 0 {
			return err
		}
		if address, ok := r.address(variable); ok {
			r.note(address, block, "")
		}
		r.SkipChildren()
	}
	return nil
}

// note keeps what an entry declares at an address. The first entry counts: each procedure that names a COMMON block declares
// it anew.
func (r *declarationReader) note(address uint64, entry *dwarf.Entry, function string) {
	if r.found[address] != nil {
		return
	}
	d := &declaration{function: function, common: entry.Tag == dwarf.TagCommonDwarfBlock}
	name, _ := r.attribute(entry, dwarf.AttrName)
	d.name, _ = name.(string)
	line, _ := r.attribute(entry, dwarf.AttrDeclLine)
	number, _ := line.(int64)
	d.line = int(number)
	source, at := r.attribute(entry, dwarf.AttrDeclFile)
	d.source, _ = source.(int64)
	d.declaredAt = at
	r.found[address] = d
}

// address evaluates where a variable is. It is false for one that is in registers, on a stack or thread-local.
func (r *declarationReader) address(entry *dwarf.Entry) (uint64, bool) {
	expression, _ := entry.Val(dwarf.AttrLocation).([]byte)
	if len(expression) == 9 && expression[0] == opAddr {
		return binary.LittleEndian.Uint64(expression[1:]), true
	}
	if len(expression) < 2 || expression[0] != opAddrx {
		return 0, false
	}
	number, length := binary.Uvarint(expression[1:]) // which is DWARF's ULEB128
	if len(r.units) == 0 {
		return 0, false
	}
	base, _ := r.units[len(r.units)-1].Val(dwarf.AttrAddrBase).(int64)
	from := uint64(base) + 8*number
	if length != len(expression)-1 || from > uint64(len(r.addresses)) || uint64(len(r.addresses))-from < 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(r.addresses[from:]), true
}

// attribute returns an attribute of an entry or of the declaration that the entry completes, and the offset of the entry
// that has it. It is nil if neither has it.
func (r *declarationReader) attribute(entry *dwarf.Entry, which dwarf.Attr) (any, dwarf.Offset) {
	const most = 4 // an instance of a definition of a declaration; more would be a circle
	for range most {
		if value := entry.Val(which); value != nil {
			return value, entry.Offset
		}
		completes, ok := entry.Val(dwarf.AttrSpecification).(dwarf.Offset)
		if !ok {
			completes, ok = entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		}
		if !ok {
			break
		}
		other := r.data.Reader()
		other.Seek(completes)
		next, err := other.Next()
		if err != nil || next == nil {
			break
		}
		entry = next
	}
	return nil, 0
}

// source returns the name of a source file by its number in the unit that the entry at an offset belongs to, or "".
func (r *declarationReader) source(at dwarf.Offset, number int64) string {
	i := sort.Search(len(r.units), func(i int) bool { return r.units[i].Offset > at }) - 1
	if i < 0 {
		return ""
	}
	unit := r.units[i]
	files, read := r.sources[unit]
	if !read {
		if lines, err := r.data.LineReader(unit); err == nil && lines != nil {
			files = lines.Files()
		}
		r.sources[unit] = files
	}
	if number < 0 || number >= int64(len(files)) || files[number] == nil {
		return ""
	}
	return files[number].Name
}
