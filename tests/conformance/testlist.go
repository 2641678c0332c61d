// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A test is one line of one of the suite's lists.
type test struct {
	dir, program string
	ranks        int
	args, env    []string
	limit        time.Duration
	judge        string // the suite's name of a way to judge a run; "": by output and status
	left         string // why it is left out; "": it is not
}

// name tells tests apart.
func (t test) name() string {
	return strings.Join(append([]string{t.dir + "/" + t.program, strconv.Itoa(t.ranks)}, t.options()...), " ")
}

// options are t's arguments and, with "env=" before each, its environment.
func (t test) options() []string {
	all := slices.Clone(t.args)
	for _, e := range t.env {
		all = append(all, "env="+e)
	}
	return all
}

// directories are those with tests in C, in the order in which they run. Under
// "threads/" and "impls/" the folders below count.
var directories = []string{
	"attr", "comm", "datatype", "errhan", "group", "info", "init", "topo", "pt2pt", "coll", "mpi_t", "part", "io", "rma",
	"threads/*", "impls/*", "perf", "ft", "spawn", "session",
}

const (
	mostRanks = 16
	mostGiB   = 4.0
)

// readSuite returns the tests of all directories; those with few ranks come first. A
// run may take limit, with 8 ranks or more twice that.
func readSuite(folder string, limit time.Duration) ([]test, error) {
	var all []test
	for _, pattern := range directories {
		dirs, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, dir := range dirs {
			rel, _ := filepath.Rel(folder, dir)
			tests, err := readLists(dir, rel, limit)
			if err != nil {
				return nil, err
			}
			all = append(all, tests...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no tests: name the folder test/mpi of MPICH's source", folder)
	}
	slices.SortStableFunc(all, func(a, b test) int { return a.ranks - b.ranks })
	return all, nil
}

// readLists reads what of testlist and testlist.in dir has.
func readLists(dir, rel string, limit time.Duration) ([]test, error) {
	var tests []test
	seen := map[string]bool{}
	for _, list := range []string{"testlist", "testlist.in"} {
		text, err := os.ReadFile(filepath.Join(dir, list))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(text), "\n") {
			t, ok := parse(rel, line, limit)
			if ok && !seen[t.name()] {
				seen[t.name()] = true
				tests = append(tests, t)
			}
		}
	}
	return tests, nil
}

// parse reads a line "program ranks option=value...". A line with a name of
// configure's before it depends on that.
func parse(dir, line string, limit time.Duration) (test, bool) {
	line = strings.TrimSpace(line)
	t := test{dir: dir, limit: limit}
	for strings.HasPrefix(line, "@") {
		name, rest, _ := strings.Cut(line[1:], "@")
		if name != "comm_overlap" { // which configure has by default
			t.left = "configure leaves it out: " + name
		}
		line = strings.TrimSpace(rest)
	}
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.HasPrefix(line, "#") {
		return test{}, false
	}
	var err error
	t.program = fields[0]
	if t.ranks, err = strconv.Atoi(fields[1]); err != nil {
		return test{}, false
	}
	if t.ranks >= 8 {
		t.limit = 2 * limit
	}
	if t.ranks > mostRanks {
		t.left = fmt.Sprintf("more than %d ranks", mostRanks)
	}
	for _, f := range fields[2:] {
		t.option(f)
	}
	return t, true
}

func (t *test) option(option string) {
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "arg":
		t.args = append(t.args, value)
	case "env":
		t.env = append(t.env, value)
	case "resultTest":
		t.judge = value
	case "timeLimit": // a short one is part of the test
		if s, err := strconv.Atoi(value); err == nil {
			t.limit = min(t.limit, time.Duration(s)*time.Second)
		}
	case "mem":
		if gib, err := strconv.ParseFloat(value, 64); err == nil && gib > mostGiB {
			t.left = "needs " + value + " GiB"
		}
	case "xfail":
		t.left = "the suite expects it to fail: " + value
	}
}
