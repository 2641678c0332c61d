// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command tpslcc compiles and links C programs whose threads are MPI ranks:
//
//	tpslcc -fopenmp prog.c -o prog
//
// It runs the C compiler with the flags for tpsl added, as mpicc does for MPI.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const usage = `usage: tpslcc [-show | -compile-info | -link-info] [compiler arguments]

Runs the C compiler with the flags that make a program's threads MPI ranks.

  -show           print the command instead of running it
  -compile-info   print the compiler and the flags to compile
  -link-info      print the compiler and the flags to link
  -cc=PROGRAM     the compiler, in place of gcc
  -help           this text

Environment:
  TPSL_CC            the compiler
  TPSL_MPI_INCLUDE   folder of the MPI library's mpi.h
`

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	c, err := parse(args, os.Getenv)
	if err == nil && c.mode == help {
		fmt.Print(usage)
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
	if err == nil {
		err = replace(line)
	}
	fmt.Fprintln(os.Stderr, "tpslcc:", err)
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
func replace(line []string) error {
	path, err := exec.LookPath(line[0])
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("find the compiler (set TPSL_CC or -cc=): %w", err)
	}
	return syscall.Exec(path, line, os.Environ())
}
