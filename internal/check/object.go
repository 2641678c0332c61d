// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
)

const pageSize = 4096

// The models of thread-local storage (psABI, ELF handling for thread-local storage).
const (
	modelDynamic     = "dynamic"      // by __tls_get_addr
	modelDescriptors = "descriptors"  // by TLSDESC
	modelInitialExec = "initial-exec" // at a fixed distance from the thread pointer
	modelLocalExec   = "local-exec"   // the same, built into a program's code
)

// soname is the name that the policy goes by, as in package plan.
func soname(m *image.Image) string {
	if m.Soname != "" {
		return m.Soname
	}
	return filepath.Base(m.Path)
}

// newObject says what there is to say of a file by itself. rebound are the names that it
// gets from the loader if it is private.
func newObject(m *image.Image, r plan.Rule, rebound []string) (Object, error) {
	at := r.Placement
	o := Object{
		Name: soname(m), Path: m.Path, Placement: at.String(), Rule: r.Pattern, Where: r.Where,
		Relocations: map[string]int{}, Rebound: []string{}, Refused: []string{},
	}
	for _, l := range m.Loads {
		if l.Flags&elf.PF_W == 0 {
			o.Text += l.Memsz
		} else {
			o.Data += (l.Vaddr+l.Memsz+pageSize-1)&^(pageSize-1) - l.Vaddr&^(pageSize-1)
		}
	}
	o.Init = int(m.PreinitArray.Size+m.InitArray.Size) / 8
	if m.Init != 0 {
		o.Init++
	}
	relocs, err := m.Relocs()
	if err != nil {
		return o, err
	}
	o.TLS = tlsOf(m, relocs)
	if at == plan.Shared {
		return o, nil // ld.so's business
	}
	for _, r := range relocs {
		if r.Type != elf.R_X86_64_NONE {
			o.Relocations[strings.TrimPrefix(r.Type.String(), "R_X86_64_")]++
		}
	}
	if at == plan.Once {
		rebound = plan.ReboundOnce
	}
	o.Rebound, err = referredIn(m, relocs, rebound)
	return o, err
}

// tlsOf tells how an object reaches its own thread-local storage.
func tlsOf(m *image.Image, relocs []image.Reloc) (t TLS) {
	t.Bytes = m.TLS.Memsz
	own := func(r image.Reloc) bool {
		s, err := m.Symbol(r.Sym)
		return r.Sym == 0 || err == nil && s.Defined()
	}
	by := func(k elf.R_X86_64) bool {
		return slices.ContainsFunc(relocs, func(r image.Reloc) bool { return r.Type == k && own(r) })
	}
	switch {
	case t.Bytes == 0:
	case by(elf.R_X86_64_TPOFF64):
		t.Model, t.Static = modelInitialExec, t.Bytes
	case isProgram(m):
		t.Model, t.Static = modelLocalExec, t.Bytes
	case by(elf.R_X86_64_TLSDESC):
		t.Model = modelDescriptors
	default:
		t.Model = modelDynamic
	}
	return t
}

// referredIn lists the names of a table that an object refers to.
func referredIn(m *image.Image, relocs []image.Reloc, table []string) ([]string, error) {
	names := []string{}
	for _, r := range relocs {
		if r.Sym == 0 {
			continue
		}
		s, err := m.Symbol(r.Sym)
		if err != nil {
			return nil, err
		}
		if !s.Defined() && slices.Contains(table, s.Name) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// isProgram tells programs from libraries. Some libraries, libc among them, can be run:
// only the linker's mark tells.
func isProgram(m *image.Image) bool {
	return m.Type == elf.ET_EXEC || elf.DynFlag1(m.Flags1)&elf.DF_1_PIE != 0
}
