// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/plan"
)

// hugePage is what one entry of a page table's second level maps.
const hugePage = 2 << 20

// text is a copy of a part of a file's text in huge pages, which all instances map in place of the file: the kernel
// maps files of most file systems in small pages only. What is left of the text, at both ends, stays the file's.
type text struct {
	copy *os.File // in memory, sealed
	id   image.FileID
	from uint64 // address in the object, a multiple of hugePage from the start of its span
	size uint64
}

// textOf returns the copy for an object whose file is f, made at the first request; nil: there is none.
func (p *common) textOf(r *recipe, o *plan.Object, f *os.File) *text {
	p.mu.Lock()
	defer p.mu.Unlock()
	from, size := hugePart(o)
	if !r.config.HugeText || size == 0 {
		return nil
	}
	t, known := p.texts[o.ID]
	if !known {
		var err error
		if t, err = copyText(o, f, from, size); err != nil && r.config.Refused != nil {
			r.config.Refused(fmt.Errorf("text of %s in huge pages: %w: it stays in small ones", o.Name, err))
		}
		p.texts[o.ID] = t
	}
	return t
}

// hugePart returns the part of an object's text that huge pages cover when its span starts at a multiple of their
// size. Text at the ends would share a huge page with what may not be executed.
func hugePart(o *plan.Object) (from, size uint64) {
	for _, l := range o.Loads {
		start, end := l.Vaddr-o.Span.Vaddr, l.Vaddr-o.Span.Vaddr+l.Filesz
		start, end = (start+hugePage-1)&^(hugePage-1), end&^(hugePage-1)
		if l.Flags == elf.PF_R|elf.PF_X && end > start && end-start > size {
			from, size = o.Span.Vaddr+start, end-start
		}
	}
	return from, size
}

func copyText(o *plan.Object, f *os.File, from, size uint64) (*text, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil || limit.Cur < size {
		return nil, fmt.Errorf("%d bytes are more than ulimit -f allows", size) // to try would be a signal
	}
	memory, err := memoryFile(filepath.Base(o.Path))
	if err != nil {
		return nil, err
	}
	t := &text{copy: memory, from: from, size: size}
	if err = t.fill(o, f); err == nil {
		_, err = unix.FcntlInt(memory.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if err == nil {
		t.id, err = identify(memory)
	}
	if err != nil {
		_ = memory.Close()
		return nil, err
	}
	return t, nil
}

// memoryFile makes a file without a name, which maps show by the name given, that may be executed.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // a kernel before 6.3, where each may
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create (vm.memfd_noexec): %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// fill copies the text, has it put into huge pages, and sees whether it may be executed.
func (t *text) fill(o *plan.Object, f *os.File) error {
	if _, err := io.CopyN(t.copy, io.NewSectionReader(f, t.offset(o), int64(t.size)), int64(t.size)); err != nil {
		return fmt.Errorf("copy it: %w", err)
	}
	start, err := reserve(uintptr(t.size), hugePage)
	if err != nil {
		return err
	}
	defer func() { _ = unix.MunmapPtr(start, uintptr(t.size)) }() // a whole mapping of ours
	if err := t.mapAt(start); err != nil {
		return err
	}
	if err := collapse(unsafe.Slice((*byte)(start), t.size)); err != nil {
		return fmt.Errorf("collapse small pages (MADV_COLLAPSE, Linux 6.1): %w", err)
	}
	return nil
}

// collapse puts memory into huge pages, whatever /sys/kernel/mm/transparent_hugepage says. A page that the kernel is busy with is
// an EAGAIN: another try may do (madvise(2)).
func collapse(memory []byte) (err error) {
	for range 10 {
		if err = unix.Madvise(memory, unix.MADV_COLLAPSE); !errors.Is(err, unix.EAGAIN) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// mapAt maps the copy at an address that is ours.
func (t *text) mapAt(start unsafe.Pointer) error {
	_, err := unix.MmapPtr(int(t.copy.Fd()), 0, start, uintptr(t.size), unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("map memory to be executed (SELinux: execmem; vm.max_map_count): %w", err)
	}
	return nil
}

// offset is where the text begins in the object's file.
func (t *text) offset(o *plan.Object) int64 {
	for _, l := range o.Loads {
		if l.Vaddr <= t.from && t.from < l.Vaddr+l.Filesz {
			return int64(t.from - l.Vaddr + l.Offset)
		}
	}
	return 0
}

// over maps the copy in place of the part of m's text that is alike. A program may have closed descriptors that it does
// not know: then the file's pages stay.
func (t *text) over(m *mapped) error {
	if id, err := identify(t.copy); err != nil || id != t.id {
		return nil
	}
	return t.mapAt(m.pointer(t.from))
}
