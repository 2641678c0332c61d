// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include "object.h"
*/
import "C"

import (
	"encoding/binary"
	"unsafe"

	"github.com/tpsl/tpsl/internal/malloc"
	"github.com/tpsl/tpsl/loader/image"
)

// finish fills the C twin of a relocated object. Its arrays come from malloc and
// live as long as the object.
func (m *mapped) finish(r *recipe, s scopes) {
	o, c := m.plan, m.c
	c._map.l_addr = C.Elf64_Addr(m.base)
	c._map.l_name = C.CString(o.Path)
	c._map.l_ld = (*C.Elf64_Dyn)(m.pointer(o.Dynamic.Vaddr))
	c.soname = C.CString(o.Name)
	if o.Wrapped {
		c.wrappers = r.wrappers
	}
	c.start = C.uintptr_t(uintptr(m.start))
	c.end = c.start + C.uintptr_t(o.Span.Size)
	c.phdr = (*C.Elf64_Phdr)(m.optional(o.Phdr))
	c.phnum = C.size_t(o.Phnum)
	c.eh_frame_hdr = m.optional(o.EHFrameHdr)
	c.symtab = (*C.Elf64_Sym)(m.optional(o.Symtab))
	c.strtab = (*C.char)(m.optional(o.Strtab))
	c.gnu_hash = (*C.uint32_t)(m.optional(o.GNUHash))
	c.sysv_hash = (*C.uint32_t)(m.optional(o.SysVHash))
	c.versym = (*C.Elf64_Half)(m.optional(o.Versym))
	c.verdef = (*C.char)(m.optional(o.Verdef))
	c.verdefnum = C.size_t(o.VerdefNum)
	c.nsymbols = C.size_t(o.Symbols)
	if o.Relro.Size > 0 {
		first := o.Relro.Vaddr &^ (pageSize - 1)
		last := (o.Relro.Vaddr + o.Relro.Size) &^ (pageSize - 1) // ld.so rounds down, too
		c.relro, c.relro_size = C.uintptr_t(m.base+first), C.uintptr_t(last-first)
	}
	c.ifuncs, c.nifuncs = array(m.ifuncs)
	c.init, c.ninit = array(m.constructors())
	c.fini, c.nfini = array(m.destructors())
	c.entry = C.uintptr_t(m.base + o.Entry)
	c.scope, c.nscope = array(s.of(m.plan))
}

func (m *mapped) optional(vaddr uint64) unsafe.Pointer {
	if vaddr == 0 {
		return nil
	}
	return m.pointer(vaddr)
}

// array copies a list into memory of malloc, for the C side.
func array[T any](list []T) (*T, C.size_t) { return malloc.Array(list), C.size_t(len(list)) }

// functions reads a relocated array of function pointers; 0 and -1 are place
// holders (gABI, "Initialization and Termination Functions").
func (m *mapped) functions(r image.Range) []C.uintptr_t {
	var fns []C.uintptr_t
	if r.Size == 0 {
		return nil
	}
	words := m.mem[r.Vaddr-m.plan.Span.Vaddr:][:r.Size]
	for ; len(words) >= 8; words = words[8:] {
		if f := binary.LittleEndian.Uint64(words); f != 0 && f != ^uint64(0) {
			fns = append(fns, C.uintptr_t(f))
		}
	}
	return fns
}

func (m *mapped) constructors() []C.uintptr_t {
	var fns []C.uintptr_t
	if m.plan.Init != 0 {
		fns = append(fns, C.uintptr_t(m.base+m.plan.Init))
	}
	return append(fns, m.functions(m.plan.InitArray)...)
}

func (m *mapped) destructors() []C.uintptr_t {
	fns := m.functions(m.plan.FiniArray)
	for i, j := 0, len(fns)-1; i < j; i, j = i+1, j-1 {
		fns[i], fns[j] = fns[j], fns[i]
	}
	if m.plan.Fini != 0 {
		fns = append(fns, C.uintptr_t(m.base+m.plan.Fini))
	}
	return fns
}
