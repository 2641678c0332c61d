// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"cmp"
	"path/filepath"
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

	protocol mpilib.Protocol // where its file was judged
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
	if named >= 0 && usual && slices.Contains(soname.MPI, root.Needed[named]) && !isOverPMIx(root.Needed[named]) {
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
	if err == nil && abi == mpilib.MPICH && throughLibtpsl(closure, program) {
		if over, yes := overPMIx(closure, paths, program); yes {
			return over
		}
	}
	libraries := closure.Objects[1:]
	i := slices.IndexFunc(libraries, func(o *search.Object) bool { return mayBeMPI(o.Name) && isMPI(o.Image) })
	if i < 0 {
		return found
	}
	found = Library{
		Name:      cmp.Or(found.Name, libraries[i].Name),
		Path:      libraries[i].Path,
		SpeaksPMI: slices.ContainsFunc(libraries[i:], func(o *search.Object) bool { return speaksPMI(o.Path) }),
	}
	if !found.SpeaksPMI && mpilib.MaySpeakPMIx(found.Path) {
		found.protocol = mpilib.PMIx
	}
	return found
}

// isOverPMIx reports whether the system's MPI library of this name is linked with libpmix.
func isOverPMIx(name string) bool {
	file, err := search.New("").Find(name, nil)
	return err == nil && mpilib.MaySpeakPMIx(file)
}

// throughLibtpsl reports whether libtpsl chooses the MPI library, and not ld.so.
func throughLibtpsl(closure *search.Closure, program plan.Program) bool {
	return closure.Find(soname.Libtpsl) != nil || program.Mode == plan.ModeShared
}

// overPMIx returns the library that libtpsl will load for a program for MPICH's ABI, if that speaks PMIx.
func overPMIx(closure *search.Closure, libraries *search.Path, program plan.Program) (found Library, yes bool) {
	file, err := chosenByLibtpsl(mpilib.MPICH, closure, libraries, program)
	if err != nil || !mpilib.MaySpeakPMIx(file) {
		return found, false
	}
	judged, err := mpilib.Of(file, libraries)
	return Library{Name: filepath.Base(file), Path: file, protocol: judged.Protocol}, err == nil && judged.Protocol == mpilib.PMIx
}

// chosenByLibtpsl returns the file of the MPI library that libtpsl will load for a program.
func chosenByLibtpsl(abi mpilib.ABI, closure *search.Closure, libraries *search.Path, program plan.Program) (file string, err error) {
	asked, _ := plan.Getenv(program.Env, "TPSL_MPI_LIBRARY")
	root := closure.Objects[0].Image
	return mpilib.Find(asked, abi, root.Needed, mpilib.Finder(libraries, root))
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
func speaksPMI(path string) bool { return image.HasConstant(path, "PMI_FD") }
