// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command tpslcc compiles and links C programs whose threads are MPI ranks:
//
//	tpslcc -fopenmp prog.c -o prog
//
// It runs the C compiler with the flags for tpsl added, as mpicc does for MPI. By the name of tpslcxx or tpslfort it does
// the same for C++ or Fortran.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/tpsl/tpsl/internal/version"
)

const usage = `usage: %[1]s [-mpi=ABI] [-show | -compile-info | -link-info] [compiler arguments]

Runs the %[2]s with the flags that make a program's threads MPI ranks.

  -mpi=ABI        the MPI libraries to build for: mpich, or abi for those with
                  the standard ABI of MPI 5.0
  -show           print the command instead of running it
  -compile-info   print the compiler and the flags to compile
  -link-info      print the compiler and the flags to link
  %-16[3]sthe compiler, in place of %[4]s
  -v              tell tpsl's version, and pass -v to the compiler
  -help           this text

Environment:
  %-19[5]sthe compiler
  TPSL_MPI_INCLUDE   folder of the MPI library's header
`

func main() {
	os.Exit(run(os.Args[0], os.Args[1:]))
}

func run(name string, args []string) int {
	c, err := parse(name, args, os.Getenv)
	if err == nil && c.mode == help {
		fmt.Printf(usage, c.name, c.what, c.option+"PROGRAM", c.compiler, c.variable)
		return 0
	}
	var line []string
	if err == nil {
		line, err = c.line()
	}
	if err == nil && c.mode != compile {
		fmt.Println(quoted(line))
		return 0
	}
	if err == nil && slices.Contains(c.args, "-v") {
		fmt.Printf("%s for tpsl version %s\n", c.name, version.Version)
	}
	if err == nil {
		err = c.replace(line)
	}
	fmt.Fprintln(os.Stderr, c.name+":", err)
	return 1
}

// quoted returns the line as a shell would have to be given it.
func quoted(line []string) string {
	words := make([]string, len(line))
	for i, w := range line {
		words[i] = w
		if strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}();&|<>~#!") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// replace runs the compiler in place of this process, so that its exit status and
// signals are the caller's.
func (c *command) replace(line []string) error {
	path, err := exec.LookPath(line[0])
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("find the %s (set %s or %s): %w", c.what, c.variable, c.option, err)
	}
	return syscall.Exec(path, line, os.Environ())
}
