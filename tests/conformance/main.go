// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command conformance runs the C tests of MPICH's own test suite twice under our
// mpiexec: flat, a process per rank, and as private ranks of one address space.
// What passes flat must pass in private mode.
//
//	go run ./tests/conformance [-ledger FILE] [-only REGEXP] [-limit TIME] SUITE
//	go run ./tests/conformance -report FILE [-ledger FILE]
//
// It runs in the repository's root folder. SUITE is the folder test/mpi of
// MPICH's source, which is not part of this project. The ledger is a table with a
// line per test; a test that it has is not run again, so that a run can be broken
// off and taken up. -report writes the document from the ledger; the reasons of
// differences are in explained.tsv beside this file.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	ledger := flag.String("ledger", "docs/results/conformance.tsv", "table of results, a `file`")
	only := flag.String("only", "", "only the tests whose name (directory/test ranks arguments) this `regexp` finds")
	limit := flag.Duration("limit", 30*time.Second, "how long a run may take; twice that with 8 ranks or more")
	report := flag.String("report", "", "write the document about the ledger to this `file`, run nothing")
	flag.Parse()
	err := func() error {
		switch {
		case *report != "":
			return writeReport(*report, *ledger)
		case flag.NArg() == 1:
			return run(flag.Arg(0), *ledger, *only, *limit)
		}
		return fmt.Errorf("name the folder test/mpi of MPICH's source, or -report FILE")
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run runs the suite's tests that only matches and the ledger lacks.
func run(folder, ledger, only string, limit time.Duration) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	done, err := readLedger(ledger)
	if err != nil {
		return err
	}
	tests, err := readSuite(folder, limit)
	if err != nil {
		return err
	}
	var todo []test
	for _, t := range tests {
		if _, known := done[t.name()]; !known && wanted.MatchString(t.name()) {
			todo = append(todo, t)
		}
	}
	b, err := newBuilder(folder, "build/conformance")
	if err != nil {
		return err
	}
	return b.each(todo, func(t test, broken error) error {
		r := result{test: t, flat: notBuilt, private: notBuilt}
		if broken == nil {
			r = b.runBoth(t)
		} else {
			r.note = broken.Error()
		}
		fmt.Println(r)
		return appendLedger(ledger, r)
	})
}
