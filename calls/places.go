// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ianlancetaylor/demangle"

	"github.com/tpsl/tpsl/internal/debuginfo"
)

// A Place is where a program calls MPI. What is not known is empty.
type Place struct {
	File             string // as the compiler was told of it
	Line             int
	Function, Object string
}

// Places finds out which lines of source make calls. It reads each program or library once.
type Places struct{ objects map[string]*object }

type object struct {
	info     *debuginfo.File // nil: it cannot be read
	segments []elf.ProgHeader
}

// Of returns the place of each row.
func (p *Places) Of(counts Counts) (places []Place) {
	for _, row := range counts.Rows {
		if row.Object <= 0 || row.Object >= len(counts.Objects) {
			places = append(places, Place{})
			continue
		}
		path := counts.Objects[row.Object]
		place := Place{Object: path}
		if o := p.open(path); o.info != nil {
			first := o.segments[0].Vaddr &^ (uint64(os.Getpagesize()) - 1)
			place = o.at(path, first+row.Place-1) // the call is before the address to which it returns
		}
		places = append(places, place)
	}
	return places
}

func (p *Places) open(path string) *object {
	if known, found := p.objects[path]; found {
		return known
	}
	if p.objects == nil {
		p.objects = map[string]*object{}
	}
	o := &object{}
	p.objects[path] = o
	if is, err := os.Stat(path); err != nil || !is.Mode().IsRegular() {
		return o // a rank said that this is its path: it may be a pipe by now
	}
	file, err := elf.Open(path)
	if err != nil {
		return o
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_LOAD {
			o.segments = append(o.segments, segment.ProgHeader)
		}
	}
	if info, err := debuginfo.Open(path, debuginfo.Folder); err == nil && len(o.segments) > 0 {
		o.info = info
	}
	return o
}

// at returns the place of an address as the file counts.
func (o *object) at(path string, address uint64) Place {
	at := o.info.At(address)
	return Place{File: at.Source, Line: at.Line, Function: demangle.Filter(at.Function), Object: path}
}

// ofFile returns the place of an offset in a file that is mapped.
func (p *Places) ofFile(path string, offset uint64) Place {
	o := p.open(path)
	for _, s := range o.segments {
		if o.info != nil && offset >= s.Off && offset-s.Off < s.Filesz {
			return o.at(path, offset-s.Off+s.Vaddr)
		}
	}
	return Place{Object: path}
}

// String is the file's name and the line, or the function, or nothing.
func (p Place) String() string {
	if p.File != "" && p.Line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line)
	}
	return p.Function
}
