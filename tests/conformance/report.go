// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// explained says, for tests that end otherwise than flat or late, why.
//
//go:embed explained.tsv
var explained string

const reportHead = `<!-- SPDX-FileCopyrightText: The tpsl authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->

# Conformance: MPICH's own tests in private and in shared mode

*For contributors who want to know how MPICH's own tests end with tpsl.*

` + "`scripts/conformance`" + ` writes this page from its ledgers, [private](results/conformance.tsv) and [shared](results/conformance-shared.tsv);
do not edit.

The C tests of MPICH's test suite (` + "`test/mpi` of v4.0.2" + `), built against Debian's MPICH, run three times by the same mpiexec:

- flat: ` + "`-n N`" + `;
- as private ranks of one address space: ` + "`-n N -rpp N -tpsl private`" + `;
- in shared mode, as threads of one process: ` + "`-n N -rpp N`" + `.

The rules of the suite's runtests judge a run. A run with less than 8 ranks may take 30 s, and other runs 60 s. Tests that did not end
in that time ran again with more time. Ranks beyond the cores yield when they find nothing to do
([` + "`libtpslyield`" + `](performance.md#ranks-beyond-the-cores), preloaded for flat ranks). These tests are not run: the lists that the
suite generates (` + "`testlist.dtp`, `testlist.cvar`" + `), those for GPUs, and the tests in C++ and Fortran.

The tests expect that a rank is a process. For shared mode ` + "`tests/conformance`" + ` makes them programs of threads without
a change to their source. clang translates a test and the suite's support library to LLVM's assembly language. There every
variable at file scope and every static variable of a function becomes thread-local in the emulated model, and main gets another
name. ` + "`tests/conformance/ranks/ranks.c`" + ` calls that main in each OpenMP thread and gives each rank its own address of each variable, so that
the threads that a test makes share the variables of their rank. ` + "`strtok`, `rand`, `getopt`" + ` and their like keep memory of
the process, so they come from the sources of private mode's shim. A variable whose first value is the address of another variable could not be
rewritten. The suite has none, so each of its tests that builds runs as threads of one process.
`

// A column is a mode's part of the document.
type column struct {
	mode
	results map[string]result
}

// slow tells whether ours took more than ten times as long as flat.
func (r result) slow() bool {
	return r.flat == pass && r.ours == pass && r.oursSeconds > 10*r.flatSeconds && r.oursSeconds > 1
}

// differs tells whether the two runs of a test ended differently.
func (r result) differs() bool { return r.flat != r.ours }

// writeReport writes the document about the ledgers of modes. A difference that is not
// explained is an error, after the document is written.
func writeReport(document string, modes ...mode) error {
	var columns []column
	names := map[string]bool{}
	for _, m := range modes {
		results, err := readLedger(m.ledger)
		if err != nil {
			return err
		}
		columns = append(columns, column{m, results})
		for name := range results {
			names[name] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	var b strings.Builder
	b.WriteString(reportHead)
	counts(&b, columns, all)
	open := differences(&b, columns, all)
	alike(&b, columns, all)
	missing(&b, columns[0], all)
	if err := os.WriteFile(document, []byte(b.String()), 0o666); err != nil {
		return err
	}
	for _, c := range columns {
		if lacks := len(all) - len(c.results); lacks > 0 {
			return fmt.Errorf("%s lacks %d tests that another ledger has", c.ledger, lacks)
		}
	}
	if open > 0 {
		return fmt.Errorf("%d differences from flat are not explained in explained.tsv; see %s", open, document)
	}
	return nil
}

// counts writes a table with a line per directory.
func counts(b *strings.Builder, columns []column, all []string) {
	var dirs []string
	counted := map[string][]int{} // by directory; "all": of all
	for _, name := range all {
		dir := path.Dir(strings.Fields(name)[0])
		dirs = append(dirs, dir)
		for i, n := range countsOf(columns, name) {
			for _, line := range []string{dir, "all"} {
				if counted[line] == nil {
					counted[line] = make([]int, 3+3*len(columns))
				}
				counted[line][i] += n
			}
		}
	}
	slices.Sort(dirs)
	b.WriteString("\n| Directory | Tests | Not built | Pass flat |")
	for _, c := range columns {
		fmt.Fprintf(b, " Pass %s | Differ | Ten times slower |", c.name)
	}
	b.WriteString("\n|" + strings.Repeat("---|", 4+3*len(columns)) + "\n")
	for _, dir := range append(slices.Compact(dirs), "all") {
		fmt.Fprintf(b, "| %s |", dir)
		for _, n := range counted[dir] {
			fmt.Fprintf(b, " %d |", n)
		}
		b.WriteString("\n")
	}
}

// countsOf is what one test adds to its directory's line.
func countsOf(columns []column, name string) []int {
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	first := columns[0].results[name]
	line := []int{1, one(first.flat == notBuilt), one(first.flat == pass)}
	for _, c := range columns {
		r := c.results[name]
		line = append(line, one(r.ours == pass), one(r.differs()), one(r.slow()))
	}
	return line
}

// differences writes those from flat and returns how many have no explanation.
func differences(b *strings.Builder, columns []column, all []string) (open int) {
	why := table(explained)
	b.WriteString("\n## Differences\n\n")
	any := false
	for _, c := range columns {
		for _, name := range all {
			r := c.results[name]
			if !r.differs() && !r.slow() {
				continue
			}
			reason := why[c.name+" "+strings.Fields(name)[0]]
			if reason == "" {
				open++
				reason = "NOT EXPLAINED: " + r.note
			}
			if !any {
				b.WriteString("| Mode | Test | Flat | There | Why |\n|---|---|---|---|---|\n")
				any = true
			}
			fmt.Fprintf(b, "| %s | `%s` | %s, %.1f s | %s, %.1f s | %s |\n", c.name, name, r.flat, r.flatSeconds, r.ours, r.oursSeconds, reason)
		}
	}
	if !any {
		b.WriteString("None.\n")
	}
	return open
}

// table reads lines "key, tab, text".
func table(lines string) map[string]string {
	entries := map[string]string{}
	for _, line := range strings.Split(lines, "\n") {
		if key, text, ok := strings.Cut(line, "\t"); ok && line[0] != '#' {
			entries[key] = text
		}
	}
	return entries
}

// alike writes the tests that passed neither flat nor in a mode, when they were compared.
func alike(b *strings.Builder, columns []column, all []string) {
	b.WriteString("\n## Passed neither flat nor in the mode\n\nDebian's MPICH, the launcher or, on a busy machine, the time limit is the reason in both cases.\n\n")
	b.WriteString("| Test | Mode | Both | First odd line, in the mode |\n|---|---|---|---|\n")
	for _, name := range all {
		var in []string
		var last result
		for _, c := range columns {
			if r := c.results[name]; r.flat != pass && r.flat != notBuilt && !r.differs() {
				in, last = append(in, c.name), r
			}
		}
		if in != nil {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, strings.Join(in, ", "), last.flat, strings.ReplaceAll(last.note, "|", "\\|"))
		}
	}
}

// missing writes the tests that were not built, by reason.
func missing(b *strings.Builder, c column, all []string) {
	b.WriteString("\n## Not built\n\n")
	byReason := map[string][]string{}
	for _, name := range all {
		if r := c.results[name]; r.flat == notBuilt {
			byReason[r.note] = append(byReason[r.note], "`"+name+"`")
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(b, "- %s: %s\n", reason, strings.Join(byReason[reason], ", "))
	}
}
