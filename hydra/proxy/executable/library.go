// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/mpilib"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// A Library is what ld.so or libtpsl would give a program for its MPI library.
type Library struct {
	Name      string // by which the program wants it; "" where none is known
	Path      string // "" where nobody has looked
	SpeaksPMI bool   // as far as its file tells: plugins of it may

	standard mpilib.Library // what a library with the standard ABI is; the zero value for others
}

// libraryOf finds the MPI library of a program: one that it names, else one of its closure, as a library of the program may
// be linked with it. A file that is not ELF, or lacks libraries, has none: running it tells.
func libraryOf(path string, program plan.Program) (found Library) {
	root, err := image.Open(path)
	if err != nil {
		return found
	}
	defer root.Close()
	libraryPath, _ := plan.Getenv(program.Env, "LD_LIBRARY_PATH")
	usual := root.Rpath == "" && root.Runpath == "" && libraryPath == ""
	named := slices.IndexFunc(root.Needed, mayBeMPI)
	if named >= 0 && usual && slices.Contains(soname.MPI, root.Needed[named]) {
		return Library{Name: root.Needed[named], SpeaksPMI: true} // the system's MPICH, which most jobs use: no need to look further
	}
	if i := slices.IndexFunc(root.Needed, func(name string) bool { return slices.Contains(soname.OpenMPI, name) }); i >= 0 {
		found.Name = root.Needed[i] // wherever ld.so finds it
	}
	if !slices.ContainsFunc(root.Needed, func(name string) bool { return !ofLibc(name) }) {
		return found
	}
	paths := search.New(libraryPath).In(program.Wdir)
	closure, err := paths.Closure(path)
	if err != nil {
		return found
	}
	defer closure.Close()
	abi, err := mpilib.Wanted(func(name string) bool { return closure.Find(name) != nil })
	if err == nil && abi == mpilib.Standard {
		return standardLibrary(closure, paths, program)
	}
	libraries := closure.Objects[1:]
	i := slices.IndexFunc(libraries, func(o *search.Object) bool { return mayBeMPI(o.Name) && isMPI(o.Image) })
	if i < 0 {
		return found
	}
	return Library{
		Name:      cmp.Or(found.Name, libraries[i].Name),
		Path:      libraries[i].Path,
		SpeaksPMI: slices.ContainsFunc(libraries[i:], func(o *search.Object) bool { return speaksPMI(o.Path) }),
	}
}

// mayBeMPI says by its name whether a library is worth a look.
func mayBeMPI(name string) bool { return strings.Contains(strings.ToLower(name), "mpi") }

// isMPI reports whether a library is an MPI library. Tools in front of MPI have MPI_Init too, but not PMPI_Init.
func isMPI(library *image.Image) bool {
	symbol, found := library.Lookup("PMPI_Init", "")
	return found && symbol.Defined()
}

func ofLibc(name string) bool {
	base, _, _ := strings.Cut(name, ".so")
	return slices.Contains([]string{"libc", "libm", "libdl", "libpthread", "librt", "ld-linux-x86-64"}, base)
}

// speaksPMI reports whether a library contains the name of the variable by which ranks find their PMI session.
func speaksPMI(path string) bool {
	library, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer library.Close()
	section := library.Section(".rodata")
	if section == nil {
		return false
	}
	text, err := section.Data()
	return err == nil && bytes.Contains(text, []byte("PMI_FD"))
}
