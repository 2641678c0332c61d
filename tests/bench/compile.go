// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	sourceFolder = "tests/bench/programs"
	builtFolder  = "build/bench"
	// builtFile holds the lines of the header about how the programs were built.
	builtFile = builtFolder + "/built"
)

// A suite is what one run of the command measures.
type suite struct {
	commands [][]string // that build its programs, when the system is built
	contests []contest
	goals    []goal
	leftOut  []string // what cannot be measured here, and why
}

func cc(compiler, name string) []string {
	command := []string{compiler, "-fopenmp", "-O2", filepath.Join(sourceFolder, name+".c"), "-o", program(name, filepath.Base(compiler))}
	if folders, ok := inTree[compiler]; ok {
		command = append(command, "-Wl,-rpath,"+folders)
	}
	return command
}

// inTree is where a program of a packed tree finds the MPI library, or our
// stand-in for it. Here, the former is not there, and the latter built.
var inTree = map[string]string{
	"mpicc.mpich": "$ORIGIN/../../closure/mpi",
	"bin/tpslcc":  "$ORIGIN/../../lib:$ORIGIN/../../lib/tpsl",
}

// program returns the path of a C benchmark as built by compiler.
func program(name, compiler string) string {
	return filepath.Join(builtFolder, name+"-"+compiler)
}

// compile makes the system, then what the commands make of it. A packed tree
// has no sources, but all that was built.
func compile(ctx context.Context, commands [][]string) error {
	if _, err := os.Stat(sourceFolder); err != nil {
		if _, err := os.Stat(builtFile); err != nil {
			return errors.New("run it in the root folder of the repository or of a packed tree")
		}
		return nil
	}
	if err := os.MkdirAll(builtFolder, 0o777); err != nil {
		return err
	}
	for _, c := range append([][]string{{"make", "-s", "all"}}, commands...) {
		if out, err := exec.CommandContext(ctx, c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out)
		}
	}
	return os.WriteFile(builtFile, []byte(describeBuild()), 0o666)
}
