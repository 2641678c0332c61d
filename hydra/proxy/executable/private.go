// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package executable

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/installation"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// privateHostFile loads a copy of a program per rank (package host).
const privateHostFile = "host"

// private is the sharing of a program that is loaded once per rank. An error says why that cannot be.
func private(needs *search.Closure, p plan.Program, libraries *search.Path) (s sharing, err error) {
	program := needs.Objects[0]
	refuse := func(why string) (sharing, error) {
		return sharing{}, fmt.Errorf("-rpp %d loads the program once per rank, but it is %s, or use -rpp 1", p.PerProcess, why)
	}
	info, err := os.Stat(program.Path)
	switch {
	case err != nil:
		return s, err
	case program.Type == elf.ET_EXEC && program.Interp != "":
		return refuse("not position-independent; " + image.RebuildPIE)
	case program.Interp == "":
		return refuse("statically linked; link it with shared libraries")
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return refuse("setuid or setgid; remove these bits")
	case program.Heap():
		return refuse("a heap as well (it defines free), which the C library would not use; link it with the heap as a shared library")
	}
	if s.privateHost, err = installation.File(privateHostFile); err != nil {
		return s, fmt.Errorf("-rpp %d needs the host of private programs: %w; install tpsl anew", p.PerProcess, err)
	}
	preload, _ := plan.Getenv(p.Env, "LD_PRELOAD")
	s.tools, s.heaps = splitPreload(preload, libraries)
	for _, o := range needs.Objects[1:] {
		if o.Heap() {
			s.heaps = append(s.heaps, o.Path)
		}
	}
	return s, nil
}

// splitPreload returns the files of LD_PRELOAD as tools, of which each rank gets its own copy. Those among them that ld.so
// must also preload for the process are heaps: the C library must use them too. Missing files are treated like these, so
// that ld.so reports them.
func splitPreload(preload string, libraries *search.Path) (tools, heaps []string) {
	for _, name := range strings.FieldsFunc(preload, func(c rune) bool { return c == ':' || c == ' ' }) {
		file, err := libraries.Find(name, nil)
		if err != nil {
			file = name
		}
		tools = append(tools, file)
		if err != nil || isHeapFile(file, libraries) {
			heaps = append(heaps, file)
		}
	}
	return tools, heaps
}

// isHeapFile reports whether a preloaded library is a heap. A library that is linked with MPI is none: it is a tool in
// front of MPI that at most counts calls of free, and a private rank must have a copy of it.
func isHeapFile(file string, libraries *search.Path) bool {
	closure, err := libraries.Closure(file)
	if err != nil {
		return false
	}
	defer closure.Close()
	mpi := slices.ContainsFunc(soname.Flat, func(name string) bool { return closure.Find(name) != nil })
	return !mpi && closure.Objects[0].Heap()
}
