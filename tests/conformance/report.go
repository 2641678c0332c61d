// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// explained says, for tests that pass flat only or end late in private mode, why.
//
//go:embed explained.tsv
var explained string

const reportHead = `<!-- SPDX-FileCopyrightText: The tpsl authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->

# Conformance: MPICH's own tests in private mode

Written by ` + "`scripts/conformance`" + ` from ` + "[its ledger](results/conformance.tsv)" + `; do not edit.

The C tests of MPICH's test suite (` + "`test/mpi` of v4.0.2" + `), built against Debian's MPICH, run twice by the same mpiexec: flat
(` + "`-n N`" + `) and as private ranks of one address space (` + "`-n N -rpp N -tpsl private`" + `). A run is judged by the rules of the suite's
runtests. A run of less than 8 ranks may take 30 s, another 60 s; what did not end then has run again with twice
as much. Ranks beyond the cores give way to each other when they find nothing to do (a library in front of UCX,
alike in both modes). Not read: the lists that the
suite generates (` + "`testlist.dtp`, `testlist.cvar`" + `), those for GPUs, and the tests in C++ and Fortran.
`

// slow tells whether private mode took more than ten times as long.
func (r result) slow() bool {
	return r.flat == pass && r.private == pass && r.privateSeconds > 10*r.flatSeconds && r.privateSeconds > 1
}

// differs tells whether the two runs of a test ended differently.
func (r result) differs() bool { return r.flat != r.private }

// writeReport writes the document about a ledger. A difference that is not
// explained is an error, after the document is written.
func writeReport(path, ledger string) error {
	byName, err := readLedger(ledger)
	if err != nil {
		return err
	}
	var all []result
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	why := explanations()
	var b strings.Builder
	b.WriteString(reportHead)
	counts(&b, all)
	open := differences(&b, all, why)
	alike(&b, all)
	missing(&b, all)
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		return err
	}
	if open > 0 {
		return fmt.Errorf("%d differences between flat and private mode are not explained in explained.tsv; see %s", open, path)
	}
	return nil
}

// explanations returns the reasons by directory/test.
func explanations() map[string]string {
	why := map[string]string{}
	for _, line := range strings.Split(explained, "\n") {
		if name, reason, ok := strings.Cut(line, "\t"); ok && line[0] != '#' {
			why[name] = reason
		}
	}
	return why
}

// counts writes a table with a line per directory.
func counts(b *strings.Builder, all []result) {
	type count struct{ tests, flat, private, differ, slow, left int }
	add := func(c *count, r result) {
		c.tests++
		for _, x := range []struct {
			n  *int
			is bool
		}{
			{&c.flat, r.flat == pass}, {&c.private, r.private == pass}, {&c.differ, r.differs()},
			{&c.slow, r.slow()}, {&c.left, r.flat == notBuilt},
		} {
			if x.is {
				*x.n++
			}
		}
	}
	line := func(name string, c *count) {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d |\n", name, c.tests, c.flat, c.private, c.differ, c.slow, c.left)
	}
	total, dirs := &count{}, map[string]*count{}
	for _, r := range all {
		if dirs[r.dir] == nil {
			dirs[r.dir] = &count{}
		}
		add(dirs[r.dir], r)
		add(total, r)
	}
	b.WriteString("\n| Directory | Tests | Pass flat | Pass in private mode | Differ | Ten times slower | Not built |\n|---|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		line(name, dirs[name])
	}
	line("all", total)
}

// differences writes those between flat and private mode and returns how many
// have no explanation.
func differences(b *strings.Builder, all []result, why map[string]string) (open int) {
	b.WriteString("\n## Differences\n\n")
	any := false
	for _, r := range all {
		if !r.differs() && !r.slow() {
			continue
		}
		reason := why[r.dir+"/"+r.program]
		if reason == "" {
			open++
			reason = "NOT EXPLAINED: " + r.note
		}
		if !any {
			b.WriteString("| Test | Flat | Private | Why |\n|---|---|---|---|\n")
			any = true
		}
		fmt.Fprintf(b, "| `%s` | %s, %.1f s | %s, %.1f s | %s |\n", r.name(), r.flat, r.flatSeconds, r.private, r.privateSeconds, reason)
	}
	if !any {
		b.WriteString("None.\n")
	}
	return open
}

// alike writes the tests that pass in neither mode.
func alike(b *strings.Builder, all []result) {
	b.WriteString("\n## Not passed in either mode\n\nWhat Debian's MPICH, the time limit or the launcher decides for both; the first odd line is of private mode.\n\n")
	b.WriteString("| Test | Both | First odd line |\n|---|---|---|\n")
	for _, r := range all {
		if r.flat != pass && r.flat != notBuilt && !r.differs() {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", r.name(), r.flat, strings.ReplaceAll(r.note, "|", "\\|"))
		}
	}
}

// missing writes the tests that were not built, by reason.
func missing(b *strings.Builder, all []result) {
	b.WriteString("\n## Not built\n\n")
	byReason := map[string][]string{}
	for _, r := range all {
		if r.flat == notBuilt {
			byReason[r.note] = append(byReason[r.note], "`"+r.name()+"`")
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(b, "- %s: %s\n", reason, strings.Join(byReason[reason], ", "))
	}
}
