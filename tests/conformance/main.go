// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command conformance runs the C tests of MPICH's own test suite twice under our
// mpiexec: flat, a process per rank, and in a mode, as ranks of one process or address
// space. What passes flat must pass there.
//
//	go run ./tests/conformance [-mode private|shared] [-ledger FILE] [-only REGEXP] [-limit TIME] SUITE
//	go run ./tests/conformance -report FILE
//
// It runs in the repository's root folder. SUITE is the folder test/mpi of
// MPICH's source, which is not part of this project. The ledger is a table with a
// line per test; a test that it has is not run again, so that a run can be broken
// off and taken up. -report writes the document from the ledgers of the modes in
// docs/results; the reasons of differences are in explained.tsv beside this file.
//
// In shared mode the tests, which are written for processes, are made programs of
// threads: shared.go tells how.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	name := flag.String("mode", private.name, "what is compared with flat: private or shared")
	ledger := flag.String("ledger", "", "table of results, a `file`; that of the mode in docs/results")
	only := flag.String("only", "", "only the tests whose name (directory/test ranks arguments) this `regexp` finds")
	limit := flag.Duration("limit", 30*time.Second, "how long a run may take; twice that with 8 ranks or more")
	report := flag.String("report", "", "write the document about the ledger to this `file`, run nothing")
	flag.Parse()
	err := func() error {
		m, known := modes[*name]
		if !known {
			return fmt.Errorf("-mode %s: neither private nor shared", *name)
		}
		if *ledger == "" {
			*ledger = m.ledger
		}
		switch {
		case *report != "":
			return writeReport(*report, private, shared)
		case flag.NArg() == 1:
			return run(m, flag.Arg(0), *ledger, *only, *limit)
		}
		return fmt.Errorf("name the folder test/mpi of MPICH's source, or -report FILE")
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run runs the suite's tests that only matches and the ledger lacks.
func run(m mode, folder, ledger, only string, limit time.Duration) error {
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
	c, err := newComparison(m, folder)
	if err != nil {
		return err
	}
	return c.each(todo, func(t test, broken error) error {
		var r result
		if broken == nil {
			r = c.run(t)
		} else {
			r = c.left(t, broken)
		}
		fmt.Println(r)
		return appendLedger(ledger, m.name, r)
	})
}
