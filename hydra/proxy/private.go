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

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/search"
)

// private makes the way of a program that is loaded once per rank, or says why it cannot be.
func private(program *search.Object, p hydra.Program, libraries *search.Path) (w way, err error) {
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
	}
	if w.host, err = installed("host"); err != nil {
		return w, fmt.Errorf("-rpp %d needs the host of private programs: %w; install tpsl anew", p.PerProcess, err)
	}
	preload, _ := hydra.Getenv(p.Env, "LD_PRELOAD")
	w.tools, w.others = splitTools(preload, libraries)
	return w, nil
}

// splitTools returns the files of LD_PRELOAD that are linked with an MPI library: tools in front of MPI, of which each
// rank is to have its own. The others, in front of libc, stay with the process; so do missing ones, as ld.so tells.
func splitTools(preload string, libraries *search.Path) (tools, others []string) {
	for _, name := range strings.FieldsFunc(preload, func(c rune) bool { return c == ':' || c == ' ' }) {
		if file, err := libraries.Find(name, nil); err == nil && isTool(file, libraries) {
			tools = append(tools, file)
		} else {
			others = append(others, name)
		}
	}
	return tools, others
}

func isTool(file string, libraries *search.Path) bool {
	closure, err := libraries.Closure(file)
	if err != nil {
		return false
	}
	defer closure.Close()
	return slices.ContainsFunc(soname.MPI, func(name string) bool { return closure.Find(name) != nil })
}
