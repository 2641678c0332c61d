// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

/*
#include <stdlib.h>
#include <string.h>
#include "object.h"
*/
import "C"

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
)

var pageSize = uint64(os.Getpagesize())

// mapped is one object at its place in memory.
type mapped struct {
	plan   *plan.Object
	start  unsafe.Pointer // of the span
	base   uint64         // added to the file's addresses
	mem    []byte         // the span; only its writable segments may be written
	ifuncs []C.struct_tpsl_ifunc
	c      *C.struct_tpsl_object
}

// mapObject maps the load segments of o and gives it a C twin. The text is
// shared with every other mapping of the file.
func mapObject(r *recipe, o *plan.Object) (*mapped, error) {
	f, err := os.Open(o.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if id, err := identify(f); err != nil || id != o.ID {
		return nil, errors.Join(plan.ErrChanged, err)
	}
	copied := process.textOf(r, o, f)
	start, err := reserve(uintptr(o.Span.Size), alignment(o, copied))
	if err != nil {
		return nil, err
	}
	m := &mapped{
		plan: o, start: start, base: uint64(uintptr(start)) - o.Span.Vaddr,
		mem: unsafe.Slice((*byte)(start), o.Span.Size),
	}
	for _, l := range o.Loads {
		if err := m.mapLoad(f, l); err != nil {
			m.discard()
			return nil, err
		}
	}
	if copied != nil {
		if err := copied.over(m); err != nil {
			m.discard()
			return nil, err
		}
	}
	if err := m.twin(); err != nil {
		m.discard()
		return nil, err
	}
	return m, nil
}

// twin makes what the C side has of the object.
func (m *mapped) twin() error {
	o := m.plan
	if m.c = C.tpsl_object_new(C.size_t(o.Span.Size)); m.c == nil {
		return errors.New("no memory for it")
	}
	if o.TLS.Memsz > 0 {
		m.c.tls = C.struct_tpsl_tls_segment{
			init: m.pointer(o.TLS.Vaddr), filesz: C.size_t(o.TLS.Filesz), memsz: C.size_t(o.TLS.Memsz),
			align: C.size_t(o.TLS.Align), in_static_block: C.size_t(o.StaticTLS),
			from_thread_pointer: C.tpsl_static_tls_offset() - C.ptrdiff_t(o.StaticTLS),
		}
		if m.c.tls_module = C.tpsl_tls_module_new(&m.c.tls); m.c.tls_module == 0 {
			return errors.New("no memory for its thread-local storage")
		}
	}
	return nil
}

func identify(f *os.File) (image.FileID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return image.FileID{}, err
	}
	return image.FileID{Dev: st.Dev, Ino: st.Ino, Size: st.Size, MtimeSec: st.Mtim.Sec, MtimeNsec: st.Mtim.Nsec}, nil
}

// alignment is what the segments of o want of its place, and its text in huge pages.
func alignment(o *plan.Object, t *text) uintptr {
	align := uintptr(pageSize)
	if t != nil {
		align = hugePage
	}
	for _, l := range o.Loads {
		align = max(align, uintptr(l.Align))
	}
	return align
}

// reserve takes address space, aligned.
func reserve(size, align uintptr) (unsafe.Pointer, error) {
	more := align - uintptr(pageSize)
	p, err := unix.MmapPtr(-1, 0, nil, size+more, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space (ulimit -v, vm.max_map_count): %w", size+more, err)
	}
	before := -uintptr(p) & (align - 1)
	start := unsafe.Add(p, before)
	trim(p, before)
	trim(unsafe.Add(start, size), more-before)
	return start, nil
}

// trim gives back the part of a reservation that alignment did not need.
func trim(p unsafe.Pointer, size uintptr) {
	if size > 0 {
		_ = unix.MunmapPtr(p, size) // a part of a mapping of ours
	}
}

func (m *mapped) pointer(vaddr uint64) unsafe.Pointer {
	return unsafe.Add(m.start, vaddr-m.plan.Span.Vaddr)
}

func (m *mapped) mapLoad(f *os.File, l image.Load) error {
	prot := protection(l.Flags)
	first, fileEnd := l.Vaddr&^(pageSize-1), l.Vaddr+l.Filesz
	end := roundUp(l.Vaddr + l.Memsz)
	mapEnd := first
	if l.Filesz > 0 {
		mapEnd = roundUp(fileEnd)
		_, err := unix.MmapPtr(int(f.Fd()), int64(l.Offset&^(pageSize-1)), m.pointer(first), uintptr(mapEnd-first),
			prot, unix.MAP_PRIVATE|unix.MAP_FIXED)
		if err != nil {
			return fmt.Errorf("map segment at %#x (vm.max_map_count): %w", l.Vaddr, err)
		}
	}
	if l.Memsz > l.Filesz && l.Flags&elf.PF_W != 0 && mapEnd > fileEnd {
		clear(m.mem[fileEnd-m.plan.Span.Vaddr : min(mapEnd, end)-m.plan.Span.Vaddr])
	}
	if end > mapEnd {
		_, err := unix.MmapPtr(-1, 0, m.pointer(mapEnd), uintptr(end-mapEnd), prot, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED)
		if err != nil {
			return fmt.Errorf("map zeroed memory at %#x: %w", mapEnd, err)
		}
	}
	return nil
}

func roundUp(v uint64) uint64 { return (v + pageSize - 1) &^ (pageSize - 1) }

func protection(f elf.ProgFlag) int {
	prot := unix.PROT_NONE
	if f&elf.PF_R != 0 {
		prot |= unix.PROT_READ
	}
	if f&elf.PF_W != 0 {
		prot |= unix.PROT_WRITE
	}
	if f&elf.PF_X != 0 {
		prot |= unix.PROT_EXEC
	}
	return prot
}

// discard undoes mapObject for an object that was never published.
func (m *mapped) discard() {
	_ = unix.MunmapPtr(m.start, uintptr(m.plan.Span.Size)) // a whole mapping of ours: cannot fail
	if m.c != nil {
		if m.c.tls_module != 0 {
			C.tpsl_tls_module_end(m.c.tls_module)
		}
		C.tpsl_object_spare(m.c)
	}
}

// relocate makes all stores but those of copyData and of resolvers, which it
// leaves in m.ifuncs for the thread that starts the object.
func (m *mapped) relocate(objects []*mapped, imports []uint64) {
	m.describe(objects, imports)
	for i := range m.plan.Stores {
		s := &m.plan.Stores[i]
		var v uint64
		switch s.Kind {
		case plan.Relative:
			v = m.base + uint64(s.Addend)
		case plan.Local:
			v = objects[s.Target].base + uint64(s.Addend)
		case plan.Imported:
			v = imports[s.Target] + uint64(s.Addend)
		case plan.Constant:
			v = uint64(s.Addend)
		case plan.Module:
			v = uint64(objects[s.Target].c.tls_module)
		case plan.ThreadOffset:
			v = objects[s.Target].threadOffset(s.Addend)
		case plan.IFunc:
			m.ifuncs = append(m.ifuncs, C.struct_tpsl_ifunc{
				where:    C.uintptr_t(m.base + s.Offset),
				resolver: C.uintptr_t(objects[s.Target].base + uint64(s.Addend)),
			})
			continue
		default:
			continue
		}
		binary.LittleEndian.PutUint64(m.mem[s.Offset-m.plan.Span.Vaddr:], v)
	}
}

// copyData makes the stores of R_X86_64_COPY, which want their sources relocated.
func (m *mapped) copyData(objects []*mapped, imports []uint64) {
	for i := range m.plan.Stores {
		s := &m.plan.Stores[i]
		to := m.pointer(s.Offset)
		switch s.Kind {
		case plan.CopyLocal:
			C.memcpy(to, objects[s.Target].pointer(uint64(s.Addend)), C.size_t(s.Size))
		case plan.CopyImported:
			C.memcpy(to, pointerTo(imports[s.Target]), C.size_t(s.Size))
		}
	}
}

// pointerTo turns an address that dlsym gave, so not of Go memory, back into a
// pointer.
func pointerTo(address uint64) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}
