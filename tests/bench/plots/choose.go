// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plots

import (
	"maps"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/results"
)

// A panel is one diagram of a figure.
type panel struct {
	title  string
	lines  []line
	limits []line
}

// A line has a point for each place on the x axis, in order.
type line struct {
	key    string // what its colour is chosen by
	label  string
	points []point
}

// A point is a median with its interval; without one, low and high are it.
type point struct{ x, y, low, high float64 }

// baselines are the modes that have no ranks in one process: see results.Set.Beside.
var baselines = []string{"flat", "tags", "comms", "threaded"}

// choose finds a figure's panels among what was measured; none if it is too little.
func (f figure) choose(found *results.Set) (panels []panel, unit string) {
	lines := map[string]map[string][]results.Name{} // by panel and line
	places := map[string]map[float64]bool{}         // by panel
	for _, text := range found.Names() {
		name := results.ParseName(text)
		x, ok := name.Number(f.x)
		if !ok || name.Kind != f.kind || !f.fits(name) {
			continue
		}
		unit = found.Unit(text)
		at := f.panelOf(name)
		if lines[at] == nil {
			lines[at], places[at] = map[string][]results.Name{}, map[float64]bool{}
		}
		places[at][x] = true
		key := f.lineOf(name)
		lines[at][key] = append(lines[at][key], name)
	}
	f.lendBaselines(lines)
	most := 0
	for _, at := range slices.SortedFunc(maps.Keys(lines), compareKeys) {
		if len(places[at]) < f.least {
			continue
		}
		p := panel{title: word(at)}
		for _, key := range slices.SortedFunc(maps.Keys(lines[at]), compareKeys) {
			p.lines = append(p.lines, f.draw(found, key, lines[at][key]))
		}
		for _, l := range f.limits {
			p.limits = append(p.limits, l.lines(found, f.x, places[at])...)
		}
		most = max(most, len(p.lines))
		panels = append(panels, p)
	}
	if most < f.leastLines {
		return nil, ""
	}
	shorten(panels)
	return panels, unit
}

// fits tells whether a benchmark has the figure's fixed values. One without such
// a key does; a baseline's ranks are in two processes.
func (f figure) fits(name results.Name) bool {
	for key, want := range f.fixed {
		value := name.Get(key)
		if key == "between" && want == "threads" && value == "processes" && slices.Contains(baselines, name.Get("mode")) {
			continue
		}
		if value != "" && value != want {
			return false
		}
	}
	return true
}

func (f figure) panelOf(name results.Name) string {
	if f.panel == "" {
		return ""
	}
	value := name.Get(f.panel)
	if f.panel == "setting" && value == "" {
		value = "default"
	}
	return f.panel + "=" + value
}

// lineOf returns the keys that are left: "mode=flat/by=mpiexec".
func (f figure) lineOf(name results.Name) string {
	var left []string
	for _, k := range name.Keys {
		_, fixed := f.fixed[k.Key]
		if !fixed && k.Key != f.x && k.Key != f.panel {
			left = append(left, k.Key+"="+k.Value)
		}
	}
	return strings.Join(left, "/")
}

// lendBaselines shows the baselines' lines of two processes beside ranks of one.
func (f figure) lendBaselines(lines map[string]map[string][]results.Name) {
	borrower := lines["between=threads"]
	if f.panel != "between" || borrower == nil {
		return
	}
	for key, names := range lines["between=processes"] {
		if borrower[key] == nil && slices.Contains(baselines, names[0].Get("mode")) {
			borrower[key] = names
		}
	}
}

// draw computes a line's points.
func (f figure) draw(found *results.Set, key string, names []results.Name) line {
	slices.SortFunc(names, results.Name.Compare)
	l := line{key: key, label: key}
	for _, name := range names {
		s, ok := found.Of(name.String())
		if f.speedup {
			s, ok = found.Ratio(name.With(f.x, "1").String(), name.String())
		}
		if !ok || f.log && s.Median <= 0 {
			continue
		}
		x, _ := name.Number(f.x)
		p := point{x, s.Median, s.Median, s.Median}
		if s.Bounded() && (!f.log || s.Low > 0) {
			p.low, p.high = s.Low, s.High
		}
		if f.each {
			p.y, p.low, p.high = p.y/x, p.low/x, p.high/x
		}
		l.points = append(l.points, p)
	}
	return l
}

// lines returns the limit's lines: one for what its own keys tell apart.
func (l limit) lines(found *results.Set, x string, places map[float64]bool) (all []line) {
	at := line{key: "limit=" + l.kind, label: l.label}
	for _, text := range found.Names() {
		name := results.ParseName(text)
		s, ok := found.Of(text)
		if name.Kind != l.kind || !ok {
			continue
		}
		y := s.Median * l.factor
		if place, ok := name.Number(x); ok {
			if places[place] {
				at.points = append(at.points, point{place, y, y, y})
			}
			continue
		}
		for _, place := range slices.Sorted(maps.Keys(places)) {
			at.points = append(at.points, point{place, y, y, y})
		}
	}
	if len(at.points) == 0 {
		return nil
	}
	slices.SortFunc(at.points, func(a, b point) int { return int(a.x - b.x) })
	return []line{at}
}
