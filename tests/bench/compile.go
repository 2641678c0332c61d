// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// builtFile holds the lines of the header about how the programs were built.
const builtFile = turns.Built + "/built"

// A suite is what one run of the command measures.
type suite struct {
	commands [][]string // that build its programs, when the system is built
	contests []turns.Contest
	goals    []report.Goal
	leftOut  []string // what cannot be measured here, and why
	suffix   string   // of the name of the folder of its results
}

// compile makes the system, then what the commands make of it. A packed tree
// has no sources, but all that was built.
func compile(ctx context.Context, commands [][]string) error {
	if _, err := os.Stat(turns.Sources); err != nil {
		if _, err := os.Stat(builtFile); err != nil {
			return errors.New("run it in the root folder of the repository or of a packed tree")
		}
		return nil
	}
	if err := turns.Compile(ctx, append([][]string{{"make", "-s", "all"}}, commands...)); err != nil {
		return err
	}
	return os.WriteFile(builtFile, []byte(machine.DescribeBuild()), 0o666)
}
