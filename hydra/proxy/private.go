// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/search"
)

// private makes the way of a program that is loaded once per rank, or says why it cannot be.
func private(needs *search.Closure, p plan.Program, libraries *search.Path) (w way, err error) {
	program := needs.Objects[0]
	refuse := func(why string) (way, error) {
		return way{}, fmt.Errorf("-rpp %d loads the program once per rank, but it is %s, or use -rpp 1", p.PerProcess, why)
	}
	info, err := os.Stat(program.Path)
	switch {
	case err != nil:
		return w, err
	case program.Type == elf.ET_EXEC && program.Interp != "":
		return refuse("not position-independent; rebuild it with -fPIE -pie")
	case program.Interp == "":
		return refuse("statically linked; link it with shared libraries")
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return refuse("setuid or setgid; remove these bits")
	case program.Heap():
		return refuse("a heap as well (it defines free), which the C library would not use; link it with the heap as a shared library")
	}
	if w.host, err = installed("host"); err != nil {
		return w, fmt.Errorf("-rpp %d needs the host of private programs: %w; install tpsl anew", p.PerProcess, err)
	}
	preload, _ := plan.Getenv(p.Env, "LD_PRELOAD")
	w.tools, w.heaps = splitPreload(preload, libraries)
	for _, o := range needs.Objects[1:] {
		if o.Heap() {
			w.heaps = append(w.heaps, o.Path)
		}
	}
	return w, nil
}

// splitPreload returns the files of LD_PRELOAD, of which each rank is to have its own, and those of them that stay with
// the process: missing ones, as ld.so tells, and heaps, as the C library must use them too.
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

// isHeapFile tells whether a preloaded library is a heap. One that is linked with MPI is a tool in front of MPI, which
// counts calls of free at most, and no process could have it beside ranks of its own.
func isHeapFile(file string, libraries *search.Path) bool {
	closure, err := libraries.Closure(file)
	if err != nil {
		return false
	}
	defer closure.Close()
	mpi := slices.ContainsFunc(soname.MPI, func(name string) bool { return closure.Find(name) != nil })
	return !mpi && closure.Objects[0].Heap()
}
