// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command conformance runs the C tests of MPICH's own test suite twice under our
// mpiexec: flat, a process per rank, and in a mode, as ranks of one process or address
// space. What passes flat must pass there. The tests are built with MPICH or with another MPI library.
//
//	go run ./tests/conformance [-mpi mpich|openmpi] [-mode private|shared] [-results FOLDER] [-only REGEXP] [-limit TIME] SUITE
//	go run ./tests/conformance [-results FOLDER] -report FILE
//
// It runs in the repository's root folder. SUITE is the folder test/mpi of a checkout of
// MPICH, which is not part of this project. Each version of a library has a ledger for each
// mode in the folder of results: a table with a line per test. A test that it has is not run again, so that a run
// can be broken off and taken up. -report writes the document from the ledgers alone; the reasons of differences are in
// explained.tsv beside this file.
//
// In shared mode the tests, which are written for processes, are made programs of
// threads: shared.go tells how.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	mpi := flag.String("mpi", mpich.name, "what the tests are built with: mpich or openmpi")
	name := flag.String("mode", private.name, "what is compared with flat: private or shared")
	results := flag.String("results", "docs/results", "the `folder` of the ledgers")
	only := flag.String("only", "", "only the tests whose name (directory/test ranks arguments) this `regexp` finds")
	limit := flag.Duration("limit", 30*time.Second, "how long a run may take; twice that with 8 ranks or more")
	report := flag.String("report", "", "write the document about the ledgers to this `file`, run nothing")
	flag.Parse()
	err := func() error {
		if *report != "" {
			return writeReport(*report, *results)
		}
		if flag.NArg() != 1 {
			return errors.New("name the folder test/mpi of MPICH's source, or -report FILE")
		}
		l, m, err := chosen(*mpi, *name)
		if err != nil {
			return err
		}
		return run(l, m, flag.Arg(0), *results, *only, *limit)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// chosen are the library and the mode of these names.
func chosen(mpi, name string) (library, mode, error) {
	l, known := libraries[mpi]
	if !known {
		return l, mode{}, fmt.Errorf("-mpi %s: neither mpich nor openmpi", mpi)
	}
	m, known := modes[name]
	if !known {
		return l, m, fmt.Errorf("-mode %s: neither private nor shared", name)
	}
	if l.name == openMPI.name && m.name == shared.name {
		return l, m, errors.New("-mpi openmpi -mode shared: threads cannot be ranks over Open MPI's own ABI; say -mode private")
	}
	return l, m, nil
}

// run runs the suite's tests that only matches and the ledger lacks.
func run(l library, m mode, suite, results, only string, limit time.Duration) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	tests, err := readSuite(suite, limit)
	if err != nil {
		return err
	}
	book, err := openLedger(l, m, suite, results)
	if err != nil {
		return err
	}
	var todo []test
	for _, t := range l.relevant(tests) {
		if _, done := book.results[t.name()]; !done && wanted.MatchString(t.name()) {
			todo = append(todo, t)
		}
	}
	c, err := newComparison(l, m, suite, filepath.Join("build/conformance", book.edition(), "tests-"+book.suite))
	if err != nil {
		return err
	}
	if m.name == shared.name {
		if c.known, err = book.inMode(private.name).resultsIn(results); err != nil {
			return err
		}
	}
	return c.each(todo, func(t test, broken error) error {
		var r result
		if broken == nil {
			r = c.run(t)
		} else {
			r = c.left(t, broken)
		}
		fmt.Println(r)
		return book.add(results, r)
	})
}
