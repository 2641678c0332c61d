// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/soname"
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
	prefix  string // of the installation
	include string // folder of the MPI library's mpi.h
	args    []string
}

func parse(name string, args []string, getenv func(string) string) (*command, error) {
	c := &command{language: languageOf(name)}
	if v := getenv(c.variable); v != "" {
		c.compiler = v
	}
	for _, a := range args {
		if m, ok := modes[a]; ok {
			c.mode = m
		} else if asked, ok := strings.CutPrefix(a, c.option); ok {
			c.compiler = asked
		} else {
			c.args = append(c.args, a)
		}
	}
	if c.mode == help {
		return c, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return nil, err
	}
	c.prefix = filepath.Dir(filepath.Dir(self))
	c.include, err = mpiInclude(getenv("TPSL_MPI_INCLUDE"))
	return c, err
}

// headerFolders hold the mpi.h of a library with the MPICH ABI: Debian's, Fedora's,
// and that of an MPICH installed by itself.
var headerFolders = []string{
	"/usr/lib/x86_64-linux-gnu/mpich/include",
	"/usr/include/x86_64-linux-gnu/mpich",
	"/usr/include/mpich-x86_64",
	"/usr/local/include",
}

func mpiInclude(asked string) (string, error) {
	folders := headerFolders
	if asked != "" {
		folders = []string{asked}
	}
	for _, dir := range folders {
		if _, err := os.Stat(filepath.Join(dir, "mpi.h")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("no mpi.h of MPICH in " + strings.Join(folders, ", ") +
		": install libmpich-dev, or name its folder in TPSL_MPI_INCLUDE")
}

// line returns the command to run or to show. Our mpi.h comes before the user's folders, one of which may have MPICH's, as
// where pkg-config tells the flags of a library over MPI; the MPI library's own comes after them.
func (c *command) line() ([]string, error) {
	wrapper := "-I" + filepath.Join(c.prefix, "include")
	compileFlags := append([]string{"-I" + c.include}, c.flags...)
	linkFlags := append(c.language.link(c.include), c.libraries()...)
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

// libraries returns the flags to link libtpsl, and beside it the stand-ins for libmpich and libmpi: they keep ld.so from
// loading the real one under a library that needs it.
func (c *command) libraries() []string {
	lib := filepath.Join(c.prefix, "lib")
	standIns := filepath.Join(lib, "tpsl")
	flags := []string{
		"-L" + lib, "-L" + standIns, "-Wl,-rpath," + lib + ":" + standIns, "-Wl,--enable-new-dtags", "-ltpsl",
		"-Wl,--push-state,--no-as-needed",
	}
	for _, name := range soname.MPI {
		flags = append(flags, "-l:"+name)
	}
	return append(flags, "-Wl,--pop-state")
}

// links tells whether the compiler's arguments ask for more than translation.
func links(args []string) bool {
	for _, a := range args {
		switch a {
		case "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-dumpversion", "-dumpmachine":
			return false
		}
	}
	return !slices.Equal(args, []string{"-v"})
}
