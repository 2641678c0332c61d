// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/importlib"
	"github.com/tpsl/tpsl/internal/mpilib"
)

type mode int

const (
	compile mode = iota
	show
	compileInfo
	linkInfo
	help
)

// modes are the options that ask instead of compile, in the spellings of mpicc.
var modes = map[string]mode{
	"-show": show, "--show": show,
	"-compile-info": compileInfo, "-compile_info": compileInfo,
	"-link-info": linkInfo, "-link_info": linkInfo,
	"-help": help, "--help": help,
}

// command is one call of tpslcc or of its kin, understood.
type command struct {
	language
	mode    mode
	prefix  string     // of the installation
	abi     mpilib.ABI // that the program is built for
	include string     // folder of the MPI library's header
	args    []string
}

func parse(name string, args []string, getenv func(string) string) (*command, error) {
	c := &command{language: languageOf(name), abi: mpilib.MPICH}
	if v := getenv(c.variable); v != "" {
		c.compiler = v
	}
	for _, a := range args {
		if m, ok := modes[a]; ok {
			c.mode = m
		} else if asked, ok := strings.CutPrefix(a, c.option); ok {
			c.compiler = asked
		} else if asked, ok := strings.CutPrefix(a, "-mpi="); ok {
			if c.abi, ok = abis[asked]; !ok {
				return c, fmt.Errorf("-mpi=%s: want -mpi=mpich or -mpi=abi", asked)
			}
		} else {
			c.args = append(c.args, a)
		}
	}
	if c.mode == help {
		return c, nil
	}
	if c.abi == mpilib.Standard && len(c.bindings) > 0 {
		return c, errors.New("-mpi=abi: the standard ABI has no libraries for Fortran; use -mpi=mpich")
	}
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return c, err
	}
	c.prefix = filepath.Dir(filepath.Dir(self))
	c.include, err = mpiInclude(c.abi, getenv("TPSL_MPI_INCLUDE"))
	return c, err
}

// abis are the values of -mpi.
var abis = map[string]mpilib.ABI{"mpich": mpilib.MPICH, "abi": mpilib.Standard}

// A header is what programs for an ABI include, and where it may be.
type header struct {
	names   []string
	of      string // whose header it is, in words
	folders []string
	install string // what to install for it
}

// headers: of MPICH's ABI those of Debian, of Fedora, and of an MPICH installed by itself; of the standard ABI those of
// Debian's MPICH and Open MPI, and of each of them installed by itself. MPICH installs mpi_abi.h beside its own mpi.h.
var headers = map[mpilib.ABI]header{
	mpilib.MPICH: {[]string{"mpi.h"}, "MPICH", []string{
		"/usr/lib/x86_64-linux-gnu/mpich/include",
		"/usr/include/x86_64-linux-gnu/mpich",
		"/usr/include/mpich-x86_64",
		"/usr/local/include",
	}, "libmpich-dev"},
	mpilib.Standard: {[]string{"mpi_abi.h", "mpi.h"}, "the standard ABI", []string{
		"/usr/lib/x86_64-linux-gnu/mpi_abi_mpich/include",
		"/usr/lib/x86_64-linux-gnu/openmpi/include/standard_abi",
		"/usr/local/include/standard_abi",
		"/usr/local/include",
	}, "MPICH 5 or Open MPI 6 with its headers"},
}

// mpiInclude returns the folder of the header of an ABI.
func mpiInclude(abi mpilib.ABI, asked string) (string, error) {
	h := headers[abi]
	if asked != "" {
		h.folders = []string{asked}
	}
	for _, dir := range h.folders {
		for _, name := range h.names {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && (abi == mpilib.Standard) == isStandard(text) {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("no %s of %s in %s: install %s, or name its folder in TPSL_MPI_INCLUDE",
		strings.Join(h.names, " or "), h.of, strings.Join(h.folders, ", "), h.install)
}

// isStandard tells a header of the standard ABI (MPI 5.0, 20.2). A header of another ABI may define the macro as well, but
// not the incomplete structures.
func isStandard(header []byte) bool {
	return bytes.Contains(header, []byte("MPI_ABI_VERSION")) && bytes.Contains(header, []byte("struct MPI_ABI_Comm"))
}

// line returns the command to run or to show. Our mpi.h comes before the user's folders, one of which may have MPICH's, as
// where pkg-config tells the flags of a library over MPI; the MPI library's own comes after them.
func (c *command) line() ([]string, error) {
	wrapper := "-I" + filepath.Join(c.prefix, "include")
	compileFlags := append([]string{"-I" + c.include}, c.flags...)
	if c.abi == mpilib.Standard {
		compileFlags = append([]string{"-DTPSL_STANDARD_ABI"}, compileFlags...)
	}
	linkFlags := slices.Concat(c.folders(), c.language.link(c.include), c.libraries())
	line := []string{c.compiler}
	switch {
	case c.mode == compileInfo:
		return append(append(line, wrapper), compileFlags...), nil
	case c.mode == linkInfo:
		return append(line, linkFlags...), nil
	case len(c.args) == 0 && c.mode == compile:
		return nil, errors.New("no input files (-help for usage)")
	}
	line = slices.Concat(line, []string{wrapper}, c.args, compileFlags)
	if !links(c.args) {
		return line, nil
	}
	return append(line, linkFlags...), nil
}

// folders returns the flags that name the folders of libtpsl and of the stand-ins. They come before the folder of an MPI
// library: that has the real library by the name of a stand-in.
func (c *command) folders() []string {
	lib := filepath.Join(c.prefix, "lib")
	standIns := filepath.Join(lib, "tpsl")
	return []string{"-L" + importlib.Folder(c.prefix, c.abi), "-L" + standIns, "-Wl,-rpath," + lib + ":" + standIns, "-Wl,--enable-new-dtags"}
}

// libraries returns the flags to link libtpsl, by its import library, and beside it the stand-ins for the MPI library: they
// keep ld.so from loading the real one under a library that needs it.
func (c *command) libraries() []string {
	flags := []string{"-ltpsl", "-Wl,--push-state,--no-as-needed"}
	for _, name := range importlib.StandIns(c.abi) {
		flags = append(flags, "-l:"+name)
	}
	return append(flags, "-Wl,--pop-state")
}

// links tells whether the compiler's arguments ask for a program or a shared library: for more than translation, and than
// one object made of several.
func links(args []string) bool {
	for i, a := range args {
		if i > 0 && strings.HasPrefix(args[i-1], "-X") { // an argument for the linker, or for another program
			continue
		}
		switch a {
		case "-c", "-S", "-E", "-M", "-MM", "-r", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine":
			return false
		}
	}
	return !slices.Equal(args, []string{"-v"})
}
