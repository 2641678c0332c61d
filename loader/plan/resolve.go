// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/tpsl/tpsl/loader/image"
)

// resolver holds what exists only while one plan is made.
type resolver struct {
	*maker
	plan      *Plan
	policy    Policy               // for the new objects
	ofProgram bool                 // the object asked for is a library of the program
	orders    [askers][]int        // in which objects are searched
	images    map[int]*image.Image // by object index
	imports   map[Import]uint32
	found     map[wish]find
	errs      []error
}

// reopen finds the images of the objects of the plan that is extended, whose symbols
// the new objects may need.
func (s *resolver) reopen() error {
	for i, imp := range s.plan.Imports {
		s.imports[key(imp)] = uint32(i)
	}
	for i, o := range s.plan.Objects[:s.plan.FirstNew] {
		m, err := s.image(o)
		if err != nil {
			return err
		}
		s.images[i] = m
	}
	return nil
}

// image opens the file of an object of an earlier plan, once: each dlopen of each
// library needs them all again.
func (m *maker) image(o *Object) (*image.Image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if im := m.opened[o.ID]; im != nil {
		return im, nil
	}
	im, err := image.Open(o.Path)
	if err != nil {
		return nil, err
	}
	if im.ID != o.ID && o.Placement != Shared { // the process answers for the symbols of a shared one
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Path, ErrChanged), im.Close())
	}
	m.opened[o.ID] = im
	return im, nil
}

// resolve fills the stores of all new objects and returns every problem found.
func (s *resolver) resolve() error {
	for i := s.plan.FirstNew; i < len(s.plan.Objects); i++ {
		o := s.plan.Objects[i]
		if o.Placement == Shared {
			continue
		}
		s.checkVersions(i)
		if err := s.stores(i); err != nil {
			s.errs = append(s.errs, fmt.Errorf("%s: %w", o.Path, err))
		}
	}
	return errors.Join(s.errs...)
}

// checkVersions reports every version that an object needs and no library of the
// plan defines.
func (s *resolver) checkVersions(i int) {
	for _, need := range s.images[i].NeededVersions() {
		for j, o := range s.plan.Objects {
			if o.Name != need.Library || need.Weak {
				continue
			}
			if !s.images[j].DefinesVersion(need.Version) {
				s.errs = append(s.errs, fmt.Errorf("%s: needs version %s of %s, which %s does not define",
					s.plan.Objects[i].Path, need.Version, need.Library, o.Path))
			}
		}
	}
}

func (s *resolver) stores(i int) error {
	m, o := s.images[i], s.plan.Objects[i]
	switch {
	case m.TextRel:
		return fmt.Errorf("text relocations (DT_TEXTREL): rebuild it with -fPIC: %w", ErrUnsupported)
	case m.Type == elf.ET_EXEC:
		return fmt.Errorf("not position-independent (ET_EXEC): %s: %w", image.RebuildPIE, ErrUnsupported)
	case m.TLS.Memsz > maxTLS:
		return fmt.Errorf("thread-local storage of %d bytes (PT_TLS), %d are possible: %w", m.TLS.Memsz, maxTLS, ErrUnsupported)
	case m.ExecStack && s.execStack && s.plan.FirstNew == 0:
		s.plan.ExecStack = true
	case m.ExecStack && !s.plan.ExecStack:
		return fmt.Errorf("wants an executable stack (PT_GNU_STACK), %s: %w", s.noExecStack(), ErrUnsupported)
	}
	relocs, err := m.Relocs()
	if err != nil {
		return err
	}
	if err := s.placeProgram(i); err != nil {
		return err
	}
	o.Stores = make([]Store, 0, len(relocs))
	var errs []error
	told := map[string]bool{}
	for k, r := range relocs {
		st, err := s.store(i, r)
		if err != nil && !told[err.Error()] { // each problem once: thousands of relocations may share one
			told[err.Error()] = true
			errs = append(errs, fmt.Errorf("relocation %d at %#x: %w", k, r.Offset, err))
		}
		if err == nil && r.Type != elf.R_X86_64_NONE {
			o.Stores = append(o.Stores, st)
		}
	}
	return errors.Join(errs...)
}

// noExecStack says why there is no executable stack, and what helps.
func (s *resolver) noExecStack() string {
	if s.execStack {
		return "which a rank has from its start or not at all: link its program with -Wl,-z,execstack"
	}
	return "which only ranks of private mode can have; if it has no nested functions, which run on the stack, link it with -Wl,-z,noexecstack, or patchelf --clear-execstack"
}

// store resolves one relocation (psABI x86-64, table 4.10).
func (s *resolver) store(i int, r image.Reloc) (Store, error) {
	st := Store{Offset: r.Offset, Addend: r.Addend}
	switch r.Type {
	case elf.R_X86_64_NONE:
		return st, nil
	case elf.R_X86_64_RELATIVE:
		return st, nil
	case elf.R_X86_64_IRELATIVE:
		st.Kind, st.Target = IFunc, uint32(i)
		return st, nil
	case elf.R_X86_64_64, elf.R_X86_64_GLOB_DAT, elf.R_X86_64_JMP_SLOT:
		if r.Type != elf.R_X86_64_64 {
			st.Addend = 0
		}
		return s.address(i, r, st)
	case elf.R_X86_64_DTPMOD64, elf.R_X86_64_DTPOFF64:
		return s.threadLocal(i, r, st)
	case elf.R_X86_64_COPY:
		return s.copy(i, r, st)
	case elf.R_X86_64_SIZE64:
		return s.size(i, r, st)
	case elf.R_X86_64_TPOFF64:
		return s.threadOffset(i, r, st)
	case elf.R_X86_64_TLSDESC:
		return s.descriptor(i, r, st)
	default:
		return st, fmt.Errorf("%v: %w", r.Type, ErrUnsupported)
	}
}

func (s *resolver) address(i int, r image.Reloc, st Store) (Store, error) {
	if r.Sym == 0 {
		st.Kind = Constant
		return st, nil
	}
	sym, err := s.images[i].Symbol(r.Sym)
	if err != nil {
		return st, err
	}
	d := s.define(i, sym, false)
	switch {
	case d.object < 0:
		st.Kind, st.Target = Imported, s.importOf(d.imported)
	case d.symbol.Type == elf.STT_GNU_IFUNC:
		st.Kind, st.Target, st.Addend = IFunc, uint32(d.object), int64(d.symbol.Value)
	case d.symbol.Section == elf.SHN_ABS:
		st.Kind, st.Addend = Constant, int64(d.symbol.Value)+st.Addend
	default:
		st.Kind, st.Target, st.Addend = Local, uint32(d.object), int64(d.symbol.Value)+st.Addend
	}
	return st, nil
}

func (s *resolver) threadLocal(i int, r image.Reloc, st Store) (Store, error) {
	d, err := s.defineThreadLocal(i, r)
	switch {
	case err != nil:
		return st, err
	case r.Type == elf.R_X86_64_DTPOFF64:
		st.Kind, st.Addend = Constant, int64(d.symbol.Value)+r.Addend
	case d.object < 0 && d.imported.Library == "": // an absent weak one
		st.Kind, st.Addend = Constant, 0
	case d.object < 0:
		d.imported.Source = TLSModuleOf
		st.Kind, st.Target, st.Addend = Imported, s.importOf(d.imported), 0
	default:
		st.Kind, st.Target, st.Addend = Module, uint32(d.object), 0
	}
	return st, nil
}

// copy resolves R_X86_64_COPY: the definition is that of any object but this one.
func (s *resolver) copy(i int, r image.Reloc, st Store) (Store, error) {
	sym, err := s.images[i].Symbol(r.Sym)
	if err != nil {
		return st, err
	}
	d := s.define(i, sym, true)
	st.Size = sym.Size
	if d.object < 0 {
		st.Kind, st.Target, st.Addend = CopyImported, s.importOf(d.imported), 0
		return st, nil
	}
	if d.symbol.Size < st.Size {
		st.Size = d.symbol.Size
	}
	st.Kind, st.Target, st.Addend = CopyLocal, uint32(d.object), int64(d.symbol.Value)
	return st, nil
}

// size resolves R_X86_64_SIZE64: how large the definition is.
func (s *resolver) size(i int, r image.Reloc, st Store) (Store, error) {
	sym, err := s.images[i].Symbol(r.Sym)
	if err != nil {
		return st, err
	}
	d := s.define(i, sym, false)
	st.Kind, st.Addend = Constant, int64(d.symbol.Size)+r.Addend
	return st, nil
}
