// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"debug/elf"
	"fmt"

	"github.com/tpsl/tpsl/loader/image"
)

// StaticTLS is the size of libtpsl's own static block; loader.h calls it
// TPSL_STATIC_TLS.
const StaticTLS = 512

// maxTLS is more than any library has for each thread; beyond it a file is wrong.
const maxTLS = 1 << 30

// staticAlign is what the end of a static block is aligned to: the thread pointer's. programAlign is that of a block for
// programs (host/exec/main.c).
const (
	staticAlign  = 64
	programAlign = 256
)

// defineThreadLocal finds the definition of a thread-local variable. The relocation
// of one that no other object can see has no symbol, or a local one.
func (s *resolver) defineThreadLocal(i int, r image.Reloc) (definition, error) {
	d := definition{object: i}
	if r.Sym != 0 {
		sym, err := s.images[i].Symbol(r.Sym)
		if err != nil {
			return d, err
		}
		d = s.define(i, sym, false)
	}
	if d.object < 0 && d.imported.Library == "" && !d.imported.Weak {
		return d, fmt.Errorf("thread-local symbol %s is defined by no library", d.imported.Name)
	}
	return d, nil
}

// threadOffset resolves R_X86_64_TPOFF64, the initial-exec model: the distance of a
// variable from the thread pointer, which must be the same in all threads.
func (s *resolver) threadOffset(i int, r image.Reloc, st Store) (Store, error) {
	d, err := s.defineThreadLocal(i, r)
	switch {
	case err != nil:
		return st, err
	case d.object >= 0:
		st.Kind, st.Target, st.Addend = ThreadOffset, uint32(d.object), int64(d.symbol.Value)+r.Addend
		return st, s.placeStatic(d.object)
	case d.imported.Library == "": // an absent weak one
		st.Kind, st.Addend = Constant, 0
	default:
		d.imported.Source = ThreadOffsetOf
		st.Kind, st.Target = Imported, s.importOf(d.imported)
	}
	return st, nil
}

// descriptor resolves R_X86_64_TLSDESC, a function that finds a variable and what it
// wants to know.
func (s *resolver) descriptor(i int, r image.Reloc, st Store) (Store, error) {
	d, err := s.defineThreadLocal(i, r)
	if err != nil {
		return st, err
	}
	st.Addend += int64(d.symbol.Value)
	switch {
	case d.object >= 0:
		st.Kind, st.Target = Descriptor, uint32(d.object)
	case d.imported.Library == "":
		st.Kind, st.Addend = DescriptorAbsent, r.Addend
	default:
		d.imported.Source = TLSModuleOf
		st.Kind, st.Target = DescriptorImported, s.importOf(d.imported)
	}
	return st, nil
}

func (s *resolver) isProgram(i int) bool {
	return i == 0 && elf.DynFlag1(s.images[i].Flags1)&elf.DF_1_PIE != 0
}

// placeProgram gives a program the end of the static block: its code has the
// distances of its thread-locals from the thread pointer built in (local-exec), and no
// relocation tells of them.
func (s *resolver) placeProgram(i int) error {
	if !s.isProgram(i) || s.images[i].TLS.Memsz == 0 {
		return nil
	}
	if !s.localExec {
		return fmt.Errorf("a program with thread-local storage (local-exec): only private mode has room for it: %w", ErrUnsupported)
	}
	return s.placeStatic(i)
}

// placeStatic gives the TLS segment of an object its place in each thread's static
// block, below those that are there (psABI, variant II): the first is where a linker
// supposes that of a program.
func (s *resolver) placeStatic(i int) error {
	o, p := s.plan.Objects[i], s.plan
	t, possible := o.TLS, uint64(staticAlign)
	if s.localExec {
		possible = programAlign
	}
	switch {
	case o.StaticTLS > 0:
		return nil
	case o.Placement == Once:
		return fmt.Errorf("initial-exec thread-local storage of %s, which is placed once: rebuild it with -ftls-model=global-dynamic: %w", o.Path, ErrUnsupported)
	case i < p.FirstNew:
		return fmt.Errorf("initial-exec reference to thread-local storage of %s, which was opened before without it: rebuild with -ftls-model=global-dynamic: %w", o.Path, ErrUnsupported)
	case t.Memsz == 0:
		return fmt.Errorf("reference to thread-local storage of %s, which has none (PT_TLS)", o.Path)
	case t.Align > possible && s.isProgram(i):
		return fmt.Errorf("thread-local storage of %s aligned to %d bytes, %d are possible: align its thread-local variables to less, or let each thread allocate memory that is aligned: %w", o.Path, t.Align, possible, ErrUnsupported)
	case t.Align > possible:
		return fmt.Errorf("initial-exec thread-local storage of %s aligned to %d bytes, %d are possible: rebuild it with -ftls-model=global-dynamic: %w", o.Path, t.Align, possible, ErrUnsupported)
	}
	end := p.StaticTLS + t.Memsz
	end += -(end + t.Vaddr) & (max(t.Align, 1) - 1)
	if end < t.Memsz || end > s.staticTLS {
		return fmt.Errorf("initial-exec thread-local storage of %s: %d bytes, %d of the %d of each thread's static block are left: rebuild it with -ftls-model=global-dynamic: %w",
			o.Path, t.Memsz, s.staticTLS-p.StaticTLS, s.staticTLS, ErrUnsupported)
	}
	o.StaticTLS, p.StaticTLS = end, end
	return nil
}
