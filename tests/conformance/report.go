// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
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

` + "`scripts/conformance`" + ` writes this page from its ledgers; do not edit.

The C tests of MPICH's test suite (` + "`test/mpi`" + `) run under one mpiexec:

- flat: ` + "`-n N`" + `;
- as private ranks of one address space: ` + "`-n N -rpp N -tpsl private`" + `;
- in shared mode, as threads of one process: ` + "`-n N -rpp N`" + `.

They are built with the libraries of Debian that the first table names. A test with one rank runs with ` + "`-rpp 2`" + ` as a private rank, because with ` + "`-rpp 1`" + ` it would be
an ordinary process. The rules of the suite's runtests judge a run. A run with less than 8 ranks may take 30 s (with MPICH 5.0.2 and Open MPI 40 s), and
other runs twice as long. Tests that ended in time only on one side ran again with more time, and with MPICH 4.0.2 all tests that did not end. Ranks beyond the cores yield when they find nothing to do: those of MPICH by
[` + "`libtpslyield`" + `](performance.md#ranks-beyond-the-cores), which is preloaded for flat ranks, and those of Open MPI by a setting that mpiexec gives to flat and private
ranks alike. These tests are not run: the lists that the
suite generates (` + "`testlist.dtp`, `testlist.cvar`" + `), those for GPUs, those of MPICH's extensions (` + "`impls`" + `), and the tests in C++ and Fortran.

With Open MPI the tests are those of MPICH all the same. Variables that set what only MPICH has (` + "`MPIR_CVAR_`" + `) are left out, and tests that are then alike run once. A test that
calls what the library lacks is not built: functions of MPI 4.0, MPICH's extensions, and constants that MPI 3.0 removed. Some tests expect what MPICH does and the
standard leaves open. They fail flat and as private ranks.

The tests expect that a rank is a process. For shared mode ` + "`tests/conformance`" + ` makes them programs of threads without
a change to their source. clang translates a test and the suite's support library to LLVM's assembly language. There every
variable at file scope and every static variable of a function becomes thread-local in the emulated model, and main gets another
name. ` + "`tests/conformance/ranks/ranks.c`" + ` calls that main in each OpenMP thread and gives each rank its own address of each variable, so that
the threads that a test makes share the variables of their rank. ` + "`strtok`, `rand`, `getopt`" + ` and their like keep memory of
the process, so they come from the sources of private mode's shim. A variable whose first value is the address of another variable could not be
rewritten. The suite has none, so each of its tests that builds runs as threads of one process.
`

// An edition is what the document says of one version of a library: a ledger for each mode, private mode's first.
type edition struct {
	title   string
	ledgers []ledger
	all     []string // names of tests
}

// slow tells whether ours took more than ten times as long as flat.
func (r result) slow() bool {
	return r.flat == pass && r.ours == pass && r.oursSeconds > 10*r.flatSeconds && r.oursSeconds > 1
}

// differs tells whether the two runs of a test ended differently.
func (r result) differs() bool { return r.flat != r.ours }

// writeReport writes the document about the ledgers in a folder. A difference that is not
// explained is an error, after the document is written, and so is a test that one ledger of a library lacks and another has.
func writeReport(document, folder string) error {
	editions, err := readEditions(folder)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(reportHead)
	summary(&b, editions)
	open := 0
	var lacking error
	for _, e := range editions {
		fmt.Fprintf(&b, "\n## %s\n", e.title)
		counts(&b, e)
		open += differences(&b, e)
		open += unsteady(&b, e)
		alike(&b, e)
		missing(&b, e)
		for _, l := range e.ledgers {
			if lacks := len(e.all) - len(l.results); lacks > 0 {
				lacking = fmt.Errorf("%s lacks %d tests that another ledger of %s has", l.path(folder), lacks, e.title)
			}
		}
	}
	if err := os.WriteFile(document, []byte(b.String()), 0o666); err != nil {
		return err
	}
	if lacking != nil {
		return lacking
	}
	if open > 0 {
		return fmt.Errorf("%d differences from flat, or between flat runs, are not explained in explained.tsv; see %s", open, document)
	}
	return nil
}

// readEditions reads all ledgers in a folder.
func readEditions(folder string) ([]edition, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "conformance-*.tsv"))
	if err != nil {
		return nil, err
	}
	var editions []edition
	for _, path := range paths { // in the order of their names
		l, err := readLedger(path)
		if err != nil {
			return nil, err
		}
		title := l.library.title + " " + l.version
		if n := len(editions); n == 0 || editions[n-1].title != title {
			editions = append(editions, edition{title: title})
		}
		e := &editions[len(editions)-1]
		e.ledgers = append(e.ledgers, l)
		e.all = slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(e.all, maps.Keys(l.results)))))
	}
	return editions, nil
}

// summary writes a table with a line per ledger.
func summary(b *strings.Builder, editions []edition) {
	b.WriteString("\n| Library | Tests of | Mode | Tests | Not built | Pass flat | Pass in the mode | Differ | Ten times slower |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, e := range editions {
		for _, l := range e.ledgers {
			one := edition{ledgers: []ledger{l}, all: e.all}
			n := make([]int, len(columns(one)))
			for _, name := range e.all {
				for i, c := range countsOf(one, name) {
					n[i] += c
				}
			}
			fmt.Fprintf(b, "| %s | MPICH %s | [%s](results/%s) | %d | %d | %d | %d | %d | %d |\n",
				e.title, l.suite, l.mode, filepath.Base(l.path("")), n[0], n[1], n[2], n[3], n[4], n[5])
		}
	}
}

// columns are what counts counts.
func columns(e edition) []string {
	names := []string{"Tests", "Not built"}
	for _, l := range e.ledgers {
		names = append(names, "Pass flat", "Pass "+l.mode, "Differ", "Ten times slower")
	}
	return names
}

// counts writes a table with a line per directory.
func counts(b *strings.Builder, e edition) {
	var dirs []string
	counted := map[string][]int{} // by directory; "all": of all
	for _, name := range e.all {
		dir := path.Dir(strings.Fields(name)[0])
		dirs = append(dirs, dir)
		for i, n := range countsOf(e, name) {
			for _, line := range []string{dir, "all"} {
				if counted[line] == nil {
					counted[line] = make([]int, len(columns(e)))
				}
				counted[line][i] += n
			}
		}
	}
	slices.Sort(dirs)
	names := columns(e)
	fmt.Fprintf(b, "\n| Directory | %s |\n|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for _, dir := range append(slices.Compact(dirs), "all") {
		fmt.Fprintf(b, "| %s |", dir)
		for _, n := range counted[dir] {
			fmt.Fprintf(b, " %d |", n)
		}
		b.WriteString("\n")
	}
}

// countsOf is what one test adds to its directory's line.
func countsOf(e edition, name string) []int {
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	line := []int{1, one(e.ledgers[0].results[name].flat == notBuilt)}
	for _, l := range e.ledgers {
		r := l.results[name]
		line = append(line, one(r.flat == pass), one(r.ours == pass), one(r.differs()), one(r.slow()))
	}
	return line
}

// differences writes those from flat and returns how many have no explanation.
func differences(b *strings.Builder, e edition) (open int) {
	why := table(explained)
	fmt.Fprintf(b, "\n### %s: differences from flat\n\n", e.title)
	any := false
	for _, l := range e.ledgers {
		for _, name := range e.all {
			r := l.results[name]
			if !r.differs() && !r.slow() {
				continue
			}
			reason := why[l.name()+" "+strings.Fields(name)[0]]
			if reason == "" {
				open++
				reason = "NOT EXPLAINED: " + r.note
			}
			if !any {
				b.WriteString("| Mode | Test | Flat | There | Why |\n|---|---|---|---|---|\n")
				any = true
			}
			fmt.Fprintf(b, "| %s | `%s` | %s, %.1f s | %s, %.1f s | %s |\n", l.mode, name, r.flat, r.flatSeconds, r.ours, r.oursSeconds, reason)
		}
	}
	if !any {
		b.WriteString("None.\n")
	}
	return open
}

// unsteady writes the tests that ended otherwise in the flat run of one ledger than in another's, and returns how many have no
// explanation.
func unsteady(b *strings.Builder, e edition) (open int) {
	why := table(explained)
	first := e.ledgers[0]
	var lines []string
	for _, other := range e.ledgers[1:] {
		for _, name := range e.all {
			r, o := first.results[name], other.results[name]
			if o.program == "" || r.flat == o.flat {
				continue
			}
			reason := why[first.edition()+"-flat "+strings.Fields(name)[0]]
			if reason == "" {
				open++
				reason = "NOT EXPLAINED"
			}
			lines = append(lines, fmt.Sprintf("| `%s` | %s: %s, %.1f s | %s: %s, %.1f s | %s |\n",
				name, first.mode, r.flat, r.flatSeconds, other.mode, o.flat, o.flatSeconds, reason))
		}
	}
	if lines != nil {
		fmt.Fprintf(b, "\n### %s: flat runs that ended differently\n\nEach ledger has flat runs of its own for tests that did not end as the first ledger says.\n\n"+
			"| Test | Flat, in the ledger of a mode | Flat, in the other | What that means |\n|---|---|---|---|\n%s", e.title, strings.Join(lines, ""))
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
func alike(b *strings.Builder, e edition) {
	fmt.Fprintf(b, "\n### %s: passed neither flat nor in the mode\n\nThe library, the launcher or, on a busy machine, the time limit is the reason in both cases.\n\n", e.title)
	b.WriteString("| Test | Mode | Both | First odd line, in the mode |\n|---|---|---|---|\n")
	for _, name := range e.all {
		var in []string
		var last result
		for _, l := range e.ledgers {
			if r := l.results[name]; r.flat != pass && r.flat != notBuilt && !r.differs() {
				in, last = append(in, l.mode), r
			}
		}
		if in != nil {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, strings.Join(in, ", "), last.flat, strings.ReplaceAll(last.note, "|", "\\|"))
		}
	}
}

// missing writes the tests that were not built, by reason.
func missing(b *strings.Builder, e edition) {
	fmt.Fprintf(b, "\n### %s: not built\n\n", e.title)
	byReason := map[string][]string{}
	for _, name := range e.all {
		if r := e.ledgers[0].results[name]; r.flat == notBuilt {
			byReason[r.note] = append(byReason[r.note], "`"+name+"`")
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(b, "- %s: %s\n", reason, strings.Join(byReason[reason], ", "))
	}
}
