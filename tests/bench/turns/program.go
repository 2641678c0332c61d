// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Sources is the folder of the C benchmarks, Built that of what is made of them.
const (
	Sources = "tests/bench/programs"
	Built   = "build/bench"
)

// CC returns the command that builds a C benchmark.
func CC(compiler, name string) []string {
	command := []string{compiler, "-fopenmp", "-O2", filepath.Join(Sources, name+".c"), "-o", Program(name, filepath.Base(compiler))}
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

// Program returns the path of a C benchmark as built by compiler.
func Program(name, compiler string) string {
	return filepath.Join(Built, name+"-"+compiler)
}

// Compile runs the commands that build the sides.
func Compile(ctx context.Context, commands [][]string) error {
	if err := os.MkdirAll(Built, 0o777); err != nil {
		return err
	}
	for _, c := range commands {
		if out, err := exec.CommandContext(ctx, c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c, " "), err, out)
		}
	}
	return nil
}
