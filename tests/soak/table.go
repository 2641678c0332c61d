// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A row is a package, or the whole suite, over all runs that had it.
type row struct {
	name                 string
	runs, failed, greens int // greens are the last runs, up to now, without a failure
}

func (r *row) count(failed bool) {
	r.runs++
	r.greens++
	if failed {
		r.failed++
		r.greens = 0
	}
}

// A weakness is a test that has failed.
type weakness struct {
	first      failure
	when, last time.Time
	commit     string
	times, of  int
}

// printTable prints packages by their runs and tests by their failures, and what each said when it first failed.
func printTable(w io.Writer, runs []run) error {
	if len(runs) == 0 {
		_, err := fmt.Fprintln(w, "No runs yet.")
		return err
	}
	rows, weak := sum(runs)
	b := new(strings.Builder)
	first, last := runs[0].Time, runs[len(runs)-1].Time
	fmt.Fprintf(b, "%d runs, %s to %s, each CPU with a niced busy loop beside the tests.\n\n", len(runs), first.Format(time.DateOnly), last.Format(time.DateOnly))
	b.WriteString("| Tests of | runs | with failures | last runs without |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %d | %d | %d |\n", r.name, r.runs, r.failed, r.greens)
	}
	if len(weak) == 0 {
		b.WriteString("\nNo test failed.\n")
	} else {
		b.WriteString("\n| Failures | of runs | last | test |\n|---|---|---|---|\n")
		for _, t := range weak {
			fmt.Fprintf(b, "| %d | %d | %s | %s |\n", t.times, t.of, t.last.Format("2006-01-02 15:04"), t.first.name())
		}
	}
	for _, t := range weak {
		fmt.Fprintf(b, "\n%s, first failed %s, commit %s:\n\n", t.first.name(), t.when.Format("2006-01-02 15:04"), t.commit)
		for line := range strings.Lines(t.first.Log) {
			b.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sum adds runs up: rows by name after that of the whole suite, tests by failures.
func sum(runs []run) (rows []*row, weak []*weakness) {
	all := &row{name: "all packages together"}
	packages, tests := map[string]*row{}, map[string]*weakness{}
	for _, r := range runs {
		if r.Whole {
			all.count(len(r.Failures) > 0)
		}
		for name := range r.Packages {
			if packages[name] == nil {
				packages[name] = &row{name: name}
				rows = append(rows, packages[name])
			}
			packages[name].count(slices.ContainsFunc(r.Failures, func(f failure) bool { return f.Package == name }))
		}
		for _, f := range r.Failures {
			t := tests[f.name()]
			if t == nil {
				t = &weakness{first: f, when: r.Time, commit: r.Commit}
				tests[f.name()] = t
				weak = append(weak, t)
			}
			t.times++
			t.last = r.Time
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(a.name, b.name) })
	for _, t := range weak {
		t.of = packages[t.first.Package].runs
	}
	slices.SortStableFunc(weak, func(a, b *weakness) int { return cmp.Compare(b.times, a.times) })
	return append([]*row{all}, rows...), weak
}
