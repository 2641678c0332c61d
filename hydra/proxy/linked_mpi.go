// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// witness is the library that tells when a rank has initialised MPI (hydra/witness/witness.c).
const witness = "libtpslwitness.so"

// A linkedMPI is what ld.so would give a program for its MPI library.
type linkedMPI struct {
	name      string // by which it is wanted
	path      string // "" where nobody has looked
	speaksPMI bool   // as far as its file tells: plugins of it may
}

// linkedMPIOf finds the MPI library of a program: one that it names, else one of its closure, as a library of the program may be linked
// with it. A file that is not ELF, or lacks libraries, has none: running it tells.
func linkedMPIOf(path string, program plan.Program) (found linkedMPI) {
	root, err := image.Open(path)
	if err != nil {
		return found
	}
	defer root.Close()
	libraryPath, _ := plan.Getenv(program.Env, "LD_LIBRARY_PATH")
	usual := root.Rpath == "" && root.Runpath == "" && libraryPath == ""
	named := slices.IndexFunc(root.Needed, mayBeMPI)
	if named >= 0 && usual && slices.Contains(soname.MPI, root.Needed[named]) {
		return linkedMPI{name: root.Needed[named], speaksPMI: true} // the system's MPICH: most jobs are spared the look
	}
	if i := slices.IndexFunc(root.Needed, func(name string) bool { return slices.Contains(soname.OpenMPI, name) }); i >= 0 {
		found.name = root.Needed[i] // wherever it is
	}
	if !slices.ContainsFunc(root.Needed, func(name string) bool { return !ofLibc(name) }) {
		return found
	}
	closure, err := search.New(libraryPath).In(program.Wdir).Closure(path)
	if err != nil {
		return found
	}
	defer closure.Close()
	libraries := closure.Objects[1:]
	i := slices.IndexFunc(libraries, func(o *search.Object) bool { return mayBeMPI(o.Name) && isMPI(o.Image) })
	if i < 0 {
		return found
	}
	return linkedMPI{
		name:      cmp.Or(found.name, libraries[i].Name),
		path:      libraries[i].Path,
		speaksPMI: slices.ContainsFunc(libraries[i:], func(o *search.Object) bool { return speaksPMI(o.Path) }),
	}
}

// mayBeMPI spares most libraries a look.
func mayBeMPI(name string) bool { return strings.Contains(strings.ToLower(name), "mpi") }

// isMPI tells an MPI library from a tool in front of one, which has MPI_Init, and from one that uses MPI.
func isMPI(library *image.Image) bool {
	symbol, found := library.Lookup("PMPI_Init", "")
	return found && symbol.Defined()
}

func ofLibc(name string) bool {
	base, _, _ := strings.Cut(name, ".so")
	return slices.Contains([]string{"libc", "libm", "libdl", "libpthread", "librt", "ld-linux-x86-64"}, base)
}

// speaksPMI reports whether a library knows the variable by which ranks find their PMI session.
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

// addWitness has a rank tell when it has initialised MPI, if its library does not seem to speak PMI.
func (p *proxy) addWitness(s *start) {
	file, err := installed(witness)
	library := s.way.library
	switch {
	case library.path == "" || library.speaksPMI || s.way.pmix || p.port != nil || p.host.World.Size == 1:
	case len(s.set.Ranks) > 1 || s.way.isPrivate() || s.way.settings != nil || len(p.host.Tools) > 0:
	case err != nil || strings.ContainsAny(file, " :;"):
	default:
		s.layout.Control = true
		preload := "LD_PRELOAD=" + file
		if theirs, _ := plan.Getenv(s.env, "LD_PRELOAD"); theirs != "" {
			preload += ":" + theirs
		}
		settings := append(s.layout.Settings(), preload)
		s.own, s.env = append(s.own, settings...), plan.SetEnv(s.env, settings...)
	}
}

// rankInitialized ends the job if a rank has initialised MPI without a word over PMI: it is a job of its own.
func (p *proxy) rankInitialized(proc *process, rank int) {
	p.mu.Lock()
	spoke := slices.Contains(proc.initialized, rank)
	p.mu.Unlock()
	if spoke {
		return
	}
	program := p.host.Programs[proc.set.Program]
	remedy := "build the program with MPICH, or start it by the launcher of that library"
	if p.host.PMI.Version != "" {
		remedy = fmt.Sprintf("leave -pmi %s out, %s", p.host.PMI.Version, remedy)
	}
	p.conn.Send(channel.Failed, proc.set.Program+1, fmt.Appendf(nil, "%s on %s: its MPI library (%s) does not speak the PMI of mpiexec, so each rank began a job of its own; %s",
		program.Args[0], p.host.Name, proc.library, remedy))
}
