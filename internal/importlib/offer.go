// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package importlib

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/tpsl/names"
)

// An offer is what programs may be linked with.
type offer struct {
	symbols  []image.Symbol // of libtpsl
	unlisted [][]string     // functions of the MPI library that libtpsl has no names for, those at one address together
	lacks    int            // names of libtpsl that the MPI library lacks
}

// offerOf compares the libtpsl of an installation with an MPI library. Without one ("") programs are linked with all names
// of libtpsl.
func offerOf(prefix, library string) (o offer, err error) {
	libtpsl, err := image.Open(filepath.Join(prefix, "lib", soname.Libtpsl))
	if err != nil {
		return o, err
	}
	defer libtpsl.Close()
	if library == "" {
		o.symbols = slices.Collect(libtpsl.Exports())
		return o, nil
	}
	mpi, err := image.Open(library)
	if err != nil {
		return o, err
	}
	defer mpi.Close()
	has := map[string]image.Symbol{}
	for s := range mpi.Exports() {
		has[s.Name] = s
	}
	ofMPI := map[string]bool{}
	for _, name := range slices.Concat(append(names.Stubs(), names.Data)...) {
		ofMPI[name] = true
	}
	for s := range libtpsl.Exports() {
		if _, there := has[s.Name]; ofMPI[s.Name] && !there {
			o.lacks++
			continue
		}
		o.symbols = append(o.symbols, s)
	}
	if o.unlisted, err = unlisted(has, ofMPI, library); err == nil && len(o.unlisted) > names.Private {
		err = fmt.Errorf("%s has %d functions that libtpsl has no names for, and libtpsl has %d stubs without names; use a newer tpsl", library, len(o.unlisted), names.Private)
	}
	return o, err
}

// unlisted returns the functions of a library that programs or its own bindings may call, and that libtpsl has no names for.
func unlisted(has map[string]image.Symbol, listed map[string]bool, library string) (groups [][]string, err error) {
	wanted, err := wantedBeside(library)
	if err != nil {
		return nil, err
	}
	byAddress := map[uint64][]string{}
	for name, s := range has {
		function := s.Type == elf.STT_FUNC || s.Type == elf.STT_GNU_IFUNC
		if function && !listed[name] && (wanted[name] || names.MayCall(name)) {
			byAddress[s.Value] = append(byAddress[s.Value], name)
		}
	}
	for _, group := range byAddress {
		slices.Sort(group)
		groups = append(groups, group)
	}
	slices.SortFunc(groups, slices.Compare)
	return groups, nil
}

// wantedBeside returns the names that the bindings for other languages, which lie beside an MPI library, take from it.
func wantedBeside(library string) (map[string]bool, error) {
	wanted := map[string]bool{}
	bindings, err := filepath.Glob(filepath.Join(filepath.Dir(library), "libmpi*.so*"))
	if err != nil {
		return nil, err
	}
	for _, path := range bindings {
		if !strings.Contains(filepath.Base(path), "fort") && !strings.Contains(filepath.Base(path), "cxx") {
			continue
		}
		m, err := image.Open(path)
		if err != nil {
			continue // a text file of the linker, or a link that leads nowhere
		}
		relocs, err := m.Relocs()
		for _, r := range relocs {
			if s, err := m.Symbol(r.Sym); err == nil && r.Sym != 0 && !s.Defined() {
				wanted[s.Name] = true
			}
		}
		m.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return wanted, nil
}

// importLibrary returns assembly text with the symbols. The linker takes from it whether a symbol is a function, or how
// large a variable is.
func (o offer) importLibrary() string {
	var b strings.Builder
	for _, s := range slices.SortedFunc(slices.Values(o.symbols), byName) {
		if s.Type == elf.STT_OBJECT {
			fmt.Fprintf(&b, ".data\n.balign 32\n.globl %[1]s\n.type %[1]s, @object\n.size %[1]s, %[2]d\n%[1]s: .zero %[2]d\n", s.Name, s.Size)
		} else {
			fmt.Fprintf(&b, ".text\n.globl %[1]s\n.type %[1]s, @function\n%[1]s: ud2\n", s.Name)
		}
	}
	return b.String() + noExecutableStack
}

func byName(a, b image.Symbol) int { return strings.Compare(a.Name, b.Name) }

const noExecutableStack = ".section .note.GNU-stack, \"\", @progbits\n"

// standIn returns assembly text with a stub for each group of unlisted functions. Stub i jumps to stub i of libtpsl's that
// have no names, and may use only %r11, as the stubs of libtpsl (tpsl/stub.h). A constructor tells libtpsl the names
// (tpsl/unlisted.c). Without such functions a stand-in is empty.
func (o offer) standIn() string {
	if len(o.unlisted) == 0 {
		return noExecutableStack
	}
	var code, list, texts strings.Builder
	for i, group := range o.unlisted {
		fmt.Fprintf(&code, ".balign 16\n.Lstub%[1]d:\n.cfi_startproc\nendbr64\nmovq tpsl_unlisted_stubs@GOTPCREL(%%rip), %%r11\nmovq (%%r11), %%r11\njmpq *%[2]d(%%r11)\n.cfi_endproc\n", i, 8*i)
		for _, name := range group {
			fmt.Fprintf(&code, ".globl %[1]s\n.type %[1]s, @function\n.set %[1]s, .Lstub%[2]d\n", name, i)
		}
		fmt.Fprintf(&list, ".quad .Lname%d\n", i)
		fmt.Fprintf(&texts, ".Lname%d: .asciz \"%s\"\n", i, group[0])
	}
	return ".text\n" + code.String() +
		".balign 16\n.Ltell:\n.cfi_startproc\nendbr64\nleaq .Lnames(%rip), %rdi\njmpq *tpsl_name_unlisted@GOTPCREL(%rip)\n.cfi_endproc\n" +
		".section .init_array, \"aw\"\n.balign 8\n.quad .Ltell\n" +
		".section .data.rel.ro, \"aw\"\n.balign 8\n.Lnames:\n" + list.String() + ".quad 0\n" +
		".section .rodata\n" + texts.String() + noExecutableStack
}
