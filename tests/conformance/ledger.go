// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A ledger says what became of the suite's tests with one version of a library, flat and in a mode.
type ledger struct {
	library library
	version string // of the library
	mode    string
	suite   string            // version of MPICH whose tests these are
	results map[string]result // by the tests' names
}

// edition names the version of the library.
func (l ledger) edition() string { return l.library.name + "-" + l.version }

// name tells ledgers apart.
func (l ledger) name() string { return l.edition() + "-" + l.mode }

// path is that of the ledger's file in a folder.
func (l ledger) path(folder string) string {
	return filepath.Join(folder, "conformance-"+l.name()+".tsv")
}

// inMode is the ledger beside l of another mode.
func (l ledger) inMode(mode string) ledger {
	l.mode = mode
	return l
}

// head is what the ledger's file begins with.
func (l ledger) head() string {
	return fmt.Sprintf(`# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0
# library: %s %s
# tests: MPICH %s
test	directory	ranks	arguments	flat	%[4]s	flat seconds	%[4]s seconds	note
`, l.library.title, l.version, l.suite, l.mode)
}

// openLedger returns the ledger in the folder for what is installed and for the suite. It is empty if there is none yet.
func openLedger(lib library, m mode, suite, folder string) (ledger, error) {
	l := ledger{library: lib, mode: m.name}
	var err error
	if l.suite, err = versionOfSuite(suite); err != nil {
		return l, err
	}
	if l.version, err = lib.version(); err != nil {
		return l, err
	}
	l.results, err = l.resultsIn(folder)
	return l, err
}

// resultsIn returns the results that l's file in the folder has: none if there is no file. A file about another version of the tests is an error.
func (l ledger) resultsIn(folder string) (map[string]result, error) {
	path := l.path(folder)
	there, err := readLedger(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]result{}, nil
	}
	if err == nil && there.suite != l.suite {
		err = fmt.Errorf("%s has the tests of MPICH %s, and these are those of %s: move it away, or name the other suite", path, there.suite, l.suite)
	}
	return there.results, err
}

var (
	aboutLibrary = regexp.MustCompile(`(?m)^# library: (.+) (\S+)$`)
	aboutTests   = regexp.MustCompile(`(?m)^# tests: MPICH (\S+)$`)
	aboutMode    = regexp.MustCompile(`(?m)^test\tdirectory\tranks\targuments\tflat\t(\w+)\t`)
)

// readLedger reads a ledger's file. Of two lines about one test the later counts.
func readLedger(path string) (ledger, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return ledger{}, err
	}
	lib, suite, mode := aboutLibrary.FindSubmatch(text), aboutTests.FindSubmatch(text), aboutMode.FindSubmatch(text)
	if lib == nil || suite == nil || mode == nil {
		return ledger{}, fmt.Errorf("%s does not begin as a ledger: with the library, the tests and the columns", path)
	}
	l := ledger{version: string(lib[2]), suite: string(suite[1]), mode: string(mode[1]), results: map[string]result{}}
	for _, known := range libraries {
		if known.title == string(lib[1]) {
			l.library = known
		}
	}
	if l.library.name == "" {
		return l, fmt.Errorf("%s is about %s, which is no library of -mpi", path, lib[1])
	}
	for n, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "test\tdirectory\t") {
			continue
		}
		r, err := parseResult(line)
		if err != nil {
			return l, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		l.results[r.name()] = r
	}
	return l, nil
}

// parseResult reads a line of a ledger.
func parseResult(line string) (result, error) {
	f := strings.Split(line, "\t")
	if len(f) != 9 {
		return result{}, fmt.Errorf("%d columns, not 9", len(f))
	}
	r := result{test: test{program: f[0], dir: f[1]}, flat: f[4], ours: f[5], note: f[8]}
	for _, option := range strings.Fields(f[3]) {
		if e, ok := strings.CutPrefix(option, "env="); ok {
			r.env = append(r.env, e)
		} else {
			r.args = append(r.args, option)
		}
	}
	r.ranks, _ = strconv.Atoi(f[2])
	r.flatSeconds, _ = strconv.ParseFloat(f[6], 64)
	r.oursSeconds, _ = strconv.ParseFloat(f[7], 64)
	return r, nil
}

// What in a note differs from machine to machine and run to run: folders, hosts, process ids, and where a bad access went.
var local = regexp.MustCompile(`/(tmp|[^ ]*/build)/[^ :,]*/|\[[^ ]+:\d+(:\d+:\d+)?\] | \(process \d+, thread \d+\)| at address \S+`)

// String is r's line of the ledger.
func (r result) String() string {
	note := local.ReplaceAllString(strings.Join(strings.Fields(r.note), " "), "")
	return strings.Join([]string{
		r.program, r.dir, strconv.Itoa(r.ranks), strings.Join(r.options(), " "), r.flat, r.ours,
		fmt.Sprintf("%.2f", r.flatSeconds), fmt.Sprintf("%.2f", r.oursSeconds), note,
	}, "\t")
}

// add writes a line to the ledger's file in the folder, which begins with the head.
func (l ledger) add(folder string, r result) error {
	f, err := os.OpenFile(l.path(folder), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if at, err := f.Seek(0, 2); err == nil && at == 0 {
		if _, err := f.WriteString(l.head()); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(f, r)
	return err
}
