// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command soak keeps the record of scripts/soak, a file with a line of JSON for each run of the tests and comments that begin with #, and prints it as a table:
//
//	soak -add [-whole] [-commit ID] FILE <events # one run more, from what go test -json says
//	soak -table FILE
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

func main() {
	add := flag.Bool("add", false, "add the run whose events are on stdin")
	table := flag.Bool("table", false, "print the table")
	whole := flag.Bool("whole", false, "the run was one of all packages")
	commit := flag.String("commit", "", "what was tested, an `ID`")
	flag.Parse()
	err := func() error {
		switch {
		case flag.NArg() == 1 && *add:
			return addRun(flag.Arg(0), os.Stdin, *whole, *commit)
		case flag.NArg() == 1 && *table:
			runs, err := readRuns(flag.Arg(0))
			if err != nil {
				return err
			}
			return printTable(os.Stdout, runs)
		}
		return errors.New("say -add FILE or -table FILE")
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// addRun appends a run to a record, in one write, and prints a line about it.
func addRun(file string, events io.Reader, whole bool, commit string) error {
	r, err := readEvents(events)
	if err != nil {
		return err
	}
	r.Whole, r.Commit = whole, commit
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	record, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	defer record.Close()
	if _, err := record.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("add a run: %w", err)
	}
	tests := 0
	for _, p := range r.Packages {
		tests += p.Tests
	}
	fmt.Printf("%s: %d tests of %d packages in %v, %d failed\n", r.Time.Format(time.DateTime), tests, len(r.Packages), r.Took.Round(time.Second), len(r.Failures))
	return record.Close()
}

// readRuns reads a record; one that is not there has no runs.
func readRuns(file string) (runs []run, err error) {
	record, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer record.Close()
	for lines := bufio.NewReader(record); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var r run
		switch {
		case len(line) == 0:
			return runs, nil
		case line[0] == '#':
			continue
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("run %d of %s: %w", len(runs)+1, file, err)
		}
		runs = append(runs, r)
	}
}
