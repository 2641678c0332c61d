// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/hydra"
	"github.com/tpsl/tpsl/internal/soname"
	"github.com/tpsl/tpsl/loader/image"
	"github.com/tpsl/tpsl/loader/search"
)

// share returns the settings by which a program's ranks can share a process, and refuses a program whose ranks cannot, by
// the libraries that ld.so would load for it.
func share(path string, program hydra.Program) (settings []string, err error) {
	shared := program.Mode == hydra.ModeShared
	if program.PerProcess == 1 && !shared {
		return nil, nil
	}
	advice := fmt.Sprintf("-rpp %d needs a program linked with libtpsl", program.PerProcess)
	libraryPath, _ := hydra.Getenv(program.Env, "LD_LIBRARY_PATH")
	closure, err := search.New(libraryPath).Closure(path)
	switch {
	case errors.Is(err, image.ErrNotELF) || errors.Is(err, image.ErrTruncated):
		if shared {
			return finding(program.Env)
		}
		return nil, fmt.Errorf("%s, but this is not an ELF program; use -tpsl shared if it starts one, or -rpp 1", advice)
	case err != nil:
		return nil, err
	}
	defer closure.Close()
	linked := func(name string) bool { return closure.Find(name) != nil }
	switch {
	case linked(soname.Libtpsl):
		return nil, nil
	case !shared:
		return nil, fmt.Errorf("%s; relink it with tpslcc, use -tpsl shared if its threads call MPI_Init, or -rpp 1", advice)
	case slices.ContainsFunc(soname.MPI, linked):
		return preloading(program.Env)
	}
	return finding(program.Env)
}

// preloading has ld.so load the stand-ins before the program's own libraries: an RPATH of the program is no matter. The
// user's own, which are tools in front of MPI, stay first.
func preloading(env []string) ([]string, error) {
	folder, err := standIns()
	if err != nil {
		return nil, err
	}
	var files []string
	if theirs, _ := hydra.Getenv(env, "LD_PRELOAD"); theirs != "" {
		files = append(files, theirs)
	}
	for _, name := range soname.MPI {
		files = append(files, filepath.Join(folder, name))
	}
	return []string{"LD_PRELOAD=" + strings.Join(files, ":")}, nil
}

// finding has ld.so find the stand-ins first, for a program that this one starts and a library that it opens. A preload
// would load libtpsl into every program of a script.
func finding(env []string) ([]string, error) {
	folder, err := standIns()
	if err != nil {
		return nil, err
	}
	if theirs, _ := hydra.Getenv(env, "LD_LIBRARY_PATH"); theirs != "" {
		folder += ":" + theirs
	}
	return []string{"LD_LIBRARY_PATH=" + folder}, nil
}

// standIns returns the folder of the stand-ins, in the installation that mpiexec is of.
func standIns() (folder string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	folder = filepath.Join(filepath.Dir(filepath.Dir(self)), "lib", "tpsl")
	if strings.ContainsAny(folder, " :;") {
		return "", fmt.Errorf("-tpsl shared cannot name %q to ld.so, which cuts it at a space, colon or semicolon; install tpsl elsewhere", folder)
	}
	for _, name := range soname.MPI {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return "", fmt.Errorf("-tpsl shared needs a stand-in for the program's MPI library: %w; install tpsl anew", err)
		}
	}
	return folder, nil
}
