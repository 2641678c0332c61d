// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Compare writes for a terminal what differs between two runs: ratios are those of b to a.
func Compare(a, b *Profile, w io.Writer) error {
	for i, p := range []*Profile{a, b} {
		if err := p.check(); err != nil {
			return fmt.Errorf("profile %s: %w", []string{"A", "B"}[i], err)
		}
	}
	var out strings.Builder
	c := comparison{a.summarize(), b.summarize(), &out}
	for _, section := range []func(){c.head, c.efficiencies, c.times, c.functions, c.places, c.moved} {
		section()
	}
	_, err := io.WriteString(w, out.String())
	return err
}

type comparison struct {
	a, b *summary
	out  *strings.Builder
}

func (c comparison) head() {
	for _, one := range []struct {
		name string
		s    *summary
	}{{"A", c.a}, {"B", c.b}} {
		writeParagraph(c.out, one.name+": ", "   ", one.s.Job.Command)
		for _, line := range append(one.s.headLines(), one.s.unusual()...) {
			writeParagraph(c.out, "   ", "     ", line)
		}
	}
	writeHead(c.out, "What differs in how they ran")
	differs := c.layout()
	for _, line := range differs {
		writeParagraph(c.out, "  - ", "    ", line)
	}
	if len(differs) == 0 {
		fmt.Fprintln(c.out, "  Nothing: the same command, ranks, processes and hosts.")
	}
}

// layout lists what differs in how the two were run.
func (c comparison) layout() (lines []string) {
	for _, one := range []struct{ what, a, b string }{
		{"command", c.a.Job.Command, c.b.Job.Command},
		{"ranks", count(float64(len(c.a.Ranks))), count(float64(len(c.b.Ranks)))},
		{"processes", count(float64(c.a.processes)), count(float64(c.b.processes))},
		{"ranks in a process", count(float64(c.a.rpp())), count(float64(c.b.rpp()))},
		{"hosts", c.a.hostNames(), c.b.hostNames()},
		{"CPUs of hosts", c.a.cpus(), c.b.cpus()},
		{"layout", c.a.layout(), c.b.layout()},
		{"MPI library", c.a.Job.Library, c.b.Job.Library},
		{"tpsl", c.a.Job.Version, c.b.Job.Version},
		{"exit code", fmt.Sprint(c.a.Job.ExitCode), fmt.Sprint(c.b.Job.ExitCode)},
	} {
		if one.a != one.b {
			lines = append(lines, fmt.Sprintf("%s: %s, then %s", one.what, or(one.a, "unknown"), or(one.b, "unknown")))
		}
	}
	return lines
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// ratio writes b over a; a dash where there is none.
func ratio(a, b float64) string {
	switch {
	case a == 0 && b == 0, a == 0:
		return "-"
	case b/a >= 1e6:
		return fmt.Sprintf("%.1e", b/a)
	}
	return three(b / a)
}

// row is a line of a comparison, by a way to write numbers.
func row(what string, a, b float64, write func(float64) string) []string {
	return []string{what, write(a), write(b), ratio(a, b)}
}

var compared = []column{{"", true, 34}, {head: "A"}, {head: "B"}, {head: "B/A"}}

func (c comparison) efficiencies() {
	writeHead(c.out, "Efficiency")
	x, y := c.a.efficiencies, c.b.efficiencies
	writeTable(c.out, compared, [][]string{
		row("parallel efficiency", x.Parallel, y.Parallel, percent),
		row("load balance", x.LoadBalance, y.LoadBalance, percent),
		row("communication efficiency", x.Communication, y.Communication, percent),
		row("useful time of all ranks", c.a.sum.compute, c.b.sum.compute, seconds),
	})
	if share := c.b.sum.compute; share > 0 && c.a.sum.compute > 0 {
		scaling := c.a.sum.compute / share
		writeParagraph(c.out, "  ", "  ", fmt.Sprintf("If both solve the same problem, the computation scalability of B is %s, as the POP project (pop-coe.eu) defines it, and its global efficiency, which is that times parallel efficiency, %s. "+
			"A is the reference.", percent(scaling), percent(scaling*y.Parallel)))
	}
}

func (c comparison) times() {
	writeHead(c.out, "Time")
	mean := func(s *summary, seconds float64) float64 { return share(seconds, float64(len(s.counted))) }
	of := func(s *summary) []float64 {
		return []float64{s.Job.Elapsed, s.efficiencies.Runtime, mean(s, s.sum.compute), mean(s, s.sum.wait), mean(s, s.sum.either), mean(s, s.sum.transfer)}
	}
	x, y := of(c.a), of(c.b)
	var rows [][]string
	for i, what := range []string{"elapsed", "run time of ranks", "compute, mean of ranks", "wait", "wait or transfer", "transfer"} {
		rows = append(rows, row(what, x[i], y[i], seconds))
	}
	writeTable(c.out, compared, rows)
}

// A sum is of calls, by what they have in common.
type sum struct{ time, calls float64 }

// totals adds up the sites of a summary by a name, as a mean of its ranks.
func (s *summary) totals(name func(*site) string) map[string]sum {
	found := map[string]sum{}
	ranks := max(1, float64(len(s.counted)))
	all := slices.Concat(s.sites, s.starts)
	for i := range all {
		one := &all[i]
		t := found[name(one)]
		found[name(one)] = sum{t.time + one.time/ranks, t.calls + one.calls/ranks}
	}
	return found
}

// by compares the sites of both by a name, those with most time first.
func (c comparison) by(head string, name func(*summary) func(*site) string) {
	x, y := c.a.totals(name(c.a)), c.b.totals(name(c.b))
	var names []string
	for n := range x {
		names = append(names, n)
	}
	for n := range y {
		if _, both := x[n]; !both {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(max(x[b].time, y[b].time), max(x[a].time, y[a].time)), cmp.Compare(a, b))
	})
	writeHead(c.out, head)
	var rows [][]string
	for _, n := range names[:min(textRows, len(names))] {
		rows = append(rows, append(row(n, x[n].time, y[n].time, seconds), ratio(x[n].calls, y[n].calls)))
	}
	writeTable(c.out, append(slices.Clone(compared), column{head: "CALLS B/A"}), rows)
	if len(names) > textRows {
		fmt.Fprintf(c.out, "  and %d more\n", len(names)-textRows)
	}
}

func (c comparison) functions() {
	c.by("Time in functions, mean of ranks", func(*summary) func(*site) string {
		return func(one *site) string { return functionName(one.function) }
	})
}

func (c comparison) places() {
	c.by("Time by place, mean of ranks", func(s *summary) func(*site) string {
		return func(one *site) string { return s.where(one.place) + " " + functionName(one.function) }
	})
}

func (c comparison) moved() {
	writeHead(c.out, "Data")
	rows := [][]string{
		row("bytes", c.a.total.bytes, c.b.total.bytes, size),
		row("messages, steps of operations", c.a.total.count, c.b.total.count, count),
		row("stays in the process", c.a.insideNow(), c.b.insideNow(), percent),
		row("bytes between hosts", c.a.betweenHosts.bytes, c.b.betweenHosts.bytes, size),
	}
	writeTable(c.out, compared, rows)
}
