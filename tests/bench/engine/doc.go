// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command engine measures the message engine of endpoints/engine beside flat MPICH and what the
// machine allows. scripts/bench-engine builds and runs it, in the repository's root folder.
//
// It runs all sides in turns, as tests/bench does, and makes a folder of results with raw.txt
// (Go benchmark lines, for benchstat), summary.md and plots.
//
// A sub-benchmark is a file of this package that calls register in its init function:
//
//	func init() {
//		register(bench{
//			name:    "Match",
//			about:   "cost of a match by what is pending",
//			limit:   10 * time.Second,
//			sides:   func(p plan) []string { return []string{"Match/matcher=table", "Match/matcher=queues"} },
//			measure: measureMatch,
//			goals:   []report.Goal{{What: "...", Name: "Match/matcher=table/pending=100000", Base: "Match/matcher=table/pending=10", AtMost: 2}},
//		})
//	}
//
//	func measureMatch(m *meter) error {
//		switch m.side.Get("matcher") {
//		...
//		rounds, took, err := m.repeat(func(rounds int) (time.Duration, error) { ...do it that often, check the answers... })
//		m.print(rounds, nanosecondsOf(took, rounds), "ns/op", "pending=10")
//
// A side is a name of benchmarks, of results.Name's form, and is measured in a process of its
// own, so one side's heap and threads do not disturb the next, and one that hangs is killed. It may print
// many lines: print adds keys to the side's name. An error from measure, such as a wrong answer, is told in
// the summary. Under -quick a side still measures what the goals are about.
//
// What other commands measure beside it, such as MPI programs, is in contests.
package main
