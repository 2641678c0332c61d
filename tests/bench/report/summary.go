// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/plots"
	"github.com/tpsl/tpsl/tests/bench/results"
)

// summarise returns the summary of a raw file, in Markdown.
func (m Maker) summarise(found *results.Set, goals []Goal, drawn []plots.Figure) string {
	var b strings.Builder
	b.WriteString("<!--\nSPDX-FileCopyrightText: The tpsl authors\nSPDX-License-Identifier: Apache-2.0\n-->\n\n")
	fmt.Fprintf(&b, "# Measured on %s\n\n", caption(found))
	fmt.Fprintf(&b, "Made of `raw.txt` by `%s raw.txt`. A ratio is taken turn by turn. Given are medians, with\n"+
		"95 %% intervals in brackets and as bars. Goals are judged by the interval, see docs/performance.md.\n\n", m.Again)
	if len(found.Notes) > 0 {
		b.WriteString("## Notes\n\n")
		for _, note := range found.Notes {
			fmt.Fprintf(&b, "- %s\n", escape(note))
		}
		b.WriteString("\n")
	}
	writeGoals(&b, found, goals)
	b.WriteString("## Machine\n\n| | |\n|---|---|\n")
	for _, line := range found.Header {
		fmt.Fprintf(&b, "| %s | %s |\n", line.Key, escape(line.Value))
	}
	b.WriteString("\n## Plots\n\n")
	for _, f := range drawn {
		fmt.Fprintf(&b, "![%s](%s.svg)\n\n", f.Title, f.File)
	}
	writeMedians(&b, found)
	return b.String()
}

// caption tells the machine and the day: "AMD EPYC, 2 cpus, 2026-11-05".
func caption(found *results.Set) string {
	cpus, _, _ := strings.Cut(found.Setting("cpus"), ",")
	return fmt.Sprintf("%s, %s cpus, %s", cmp.Or(found.Setting("cpu"), "unknown"), cmp.Or(cpus, "unknown"), cmp.Or(found.Setting("date"), "unknown"))
}

func writeGoals(b *strings.Builder, found *results.Set, goals []Goal) {
	b.WriteString("## Goals\n\n| | median | 95 % interval | runs | goal | |\n|---|---:|---:|---:|---|---|\n")
	for _, g := range goals {
		v := g.judge(found)
		fmt.Fprintf(b, "| %s | %s | %s | %d | %s | %s |\n", g.What, v.median, v.bounds, v.runs, g, v.text)
	}
	b.WriteString("\n")
}

// modes are the columns of medians, in order; then come the ratios.
var (
	modes  = []string{"flat", "flat-yields", "async", "tags", "comms", "fan", "tpsl", "neighbours", "noted", "counted", "memory", "private", "own", "window", "views", "engine", "socket", "packet", "rendezvous", "read", "parts", "sent", "asked"}
	ratios = [][2]string{{"tpsl", "flat"}, {"neighbours", "flat"}, {"neighbours", "tpsl"}, {"noted", "tpsl"}, {"counted", "tpsl"}, {"memory", "flat"}, {"memory", "tpsl"}, {"private", "flat"},
		{"tpsl", "flat-yields"}, {"tpsl", "tags"}, {"tpsl", "comms"}, {"views", "flat"}, {"views", "private"}, {"views", "own"}, {"views", "window"}, {"engine", "flat"}, {"engine", "socket"}, {"packet", "rendezvous"}, {"packet", "read"}, {"parts", "read"}, {"sent", "asked"}}
)

// HasColumn tells whether a summary has a column for figures of this mode. "" is none.
func HasColumn(mode string) bool { return mode == "" || slices.Contains(modes, mode) }

// writeMedians writes a table for each kind of benchmark, with the modes that it has.
func writeMedians(b *strings.Builder, found *results.Set) {
	kinds := map[string][]results.Name{}
	for _, text := range found.Names() {
		name := results.ParseName(text)
		row := name
		if mode := name.Get("mode"); mode != "" {
			if !HasColumn(mode) {
				panic("report: mode " + mode + " has no column")
			}
			row = name.With("mode", "*")
		}
		if !slices.ContainsFunc(kinds[name.Kind], func(n results.Name) bool { return n.Compare(row) == 0 }) {
			kinds[name.Kind] = append(kinds[name.Kind], row)
		}
	}
	b.WriteString("## Medians\n\n")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		writeKind(b, found, kind, kinds[kind])
	}
}

func writeKind(b *strings.Builder, found *results.Set, kind string, rows []results.Name) {
	slices.SortFunc(rows, results.Name.Compare)
	has := func(mode string) bool {
		return slices.ContainsFunc(rows, func(n results.Name) bool { return found.Unit(found.Beside(n, mode)) != "" })
	}
	var columns []string
	for _, mode := range modes {
		if rows[0].Get("mode") == "*" && has(mode) {
			columns = append(columns, mode)
		}
	}
	if len(columns) == 0 { // no modes: one figure a row
		columns = []string{""}
	}
	var pairs [][2]string
	for _, r := range ratios {
		if slices.Contains(columns, r[0]) && slices.Contains(columns, r[1]) {
			pairs = append(pairs, r)
		}
	}
	fmt.Fprintf(b, "| %s |", kind)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c)
	}
	for _, p := range pairs {
		fmt.Fprintf(b, " %s/%s |", p[0], p[1])
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(columns)+len(pairs)) + "\n")
	for _, row := range rows {
		writeRow(b, found, row, columns, pairs)
	}
	b.WriteString("\n")
}

func writeRow(b *strings.Builder, found *results.Set, row results.Name, columns []string, pairs [][2]string) {
	var keys []string
	for _, k := range row.Keys {
		if k.Value != "*" {
			keys = append(keys, k.Key+" "+k.Value)
		}
	}
	fmt.Fprintf(b, "| %s |", strings.Join(keys, ", "))
	for _, mode := range columns {
		name := found.Beside(row, mode)
		if s, ok := found.Of(name); ok {
			fmt.Fprintf(b, " %.3g %s |", s.Median, found.Unit(name))
		} else {
			b.WriteString(" - |")
		}
	}
	for _, p := range pairs {
		if s, ok := found.Ratio(found.Beside(row, p[0]), found.Beside(row, p[1])); ok {
			fmt.Fprintf(b, " %.3g (%s) |", s.Median, s.Interval())
		} else {
			b.WriteString(" - |")
		}
	}
	b.WriteString("\n")
}

// escape keeps a text from ending a table's cell or becoming HTML.
func escape(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
