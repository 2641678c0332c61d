// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Summary is a median with its 95 % interval, from order statistics: nothing
// is assumed about the distribution. Fewer than six runs bound nothing.
type Summary struct {
	Median, Low, High float64
	Runs              int
}

// Bounded tells whether there were enough runs for an interval.
func (s Summary) Bounded() bool { return !math.IsInf(s.Low, 0) && !math.IsInf(s.High, 0) }

// Interval returns "0.97-1.02", or that the runs do not suffice.
func (s Summary) Interval() string {
	if !s.Bounded() {
		return "too few runs"
	}
	return fmt.Sprintf("%.3g-%.3g", s.Low, s.High)
}

// Of summarises the values of a benchmark. Without any, ok is false.
func (s *Set) Of(name string) (_ Summary, ok bool) {
	return s.summarise(name, func(turn int) (float64, bool) { return s.Values[name][turn].Number, true })
}

// Ratio summarises the ratios of a benchmark to a base, taken turn by turn.
// Without a turn that has both, ok is false.
func (s *Set) Ratio(name, base string) (_ Summary, ok bool) {
	return s.summarise(name, func(turn int) (float64, bool) {
		b, ok := s.Values[base][turn]
		return s.Values[name][turn].Number / b.Number, ok && b.Number != 0
	})
}

func (s *Set) summarise(name string, value func(turn int) (float64, bool)) (Summary, bool) {
	var values []float64
	for _, turn := range slices.Sorted(maps.Keys(s.Values[name])) {
		if v, ok := value(turn); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return Summary{}, false
	}
	sum := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
	return Summary{sum.Center, sum.Lo, sum.Hi, len(values)}, true
}

// MoreIsBetter tells which way a unit is better.
func MoreIsBetter(unit string) bool {
	return slices.Contains([]string{"Mmsg/s", "GB/s", "MB/s", "Mnodes/s", "MTEPS", "percent"}, unit)
}

// Beside returns the name of what another mode's benchmark is compared with. Ranks that
// are threads of one process have no like in flat and threaded MPI but those of two processes.
func (s *Set) Beside(name Name, mode string) string {
	same := name.With("mode", mode)
	if s.Values[same.String()] == nil && name.Get("between") == "threads" {
		return same.With("between", "processes").String()
	}
	return same.String()
}
