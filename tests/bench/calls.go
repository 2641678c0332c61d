// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// Ranks note the calls that they are in, or count all of them as well.
const (
	byNotes  = "TPSL_STATE=1"
	byCounts = "TPSL_PROFILE=" + turns.Built + "/profile"
)

// edgesOfGradient are of squares. In the small one a rank computes for a few microseconds between calls.
var edgesOfGradient = []int{64, 256, 512}

// calls measures what it costs thread ranks to note calls and to count them: a call that does nothing, messages, an exchange of planes, and the
// method of conjugate gradients.
func calls(p plan) suite {
	s := suite{suffix: "-" + measuredCalls}
	ends := filepath.Join(turns.Sources, "ends.c")
	for _, program := range []string{"call", "latency", "halo", "gradient"} {
		s.commands = append(s.commands, withSolver(append(turns.CC("bin/tpslcc", program), ends)))
	}
	edges := edgesOfGradient
	if p.quick {
		edges = edges[:1]
	}
	var cube []int
	for range 3 {
		cube = append(cube, 512/p.cut)
	}
	s.contests = []turns.Contest{
		p.compare("call", 1, []int{0}, tpslThreads, notedThreads, countedThreads),
		p.compare("latency", 1, []int{small, medium}, tpslThreads, notedThreads, countedThreads),
		p.compare("halo", 1, cube, tpslProcesses, notedProcesses, countedProcesses),
		p.compare("gradient", 1, edges, tpslThreads, notedThreads, countedThreads),
	}
	compare := func(what, benchmark string, noted, counted report.Goal) {
		name := func(mode string) string { return fmt.Sprintf(benchmark, mode) }
		noted.What, noted.Name, noted.Base = what+", noted/tpsl", name("noted"), name("tpsl")
		counted.What, counted.Name, counted.Base = what+", counted/tpsl", name("counted"), name("tpsl")
		s.goals = append(s.goals, noted, counted)
	}
	notWorse, percent := report.Goal{NotWorse: true}, report.Goal{AtMost: 1.01}
	for _, op := range []string{"rank", "send", "exchange"} {
		compare("call, "+op, "Call/mode=%s/op="+op, report.Goal{}, report.Goal{})
	}
	for _, size := range []int{small, medium} {
		compare(fmt.Sprintf("latency of %d B", size), fmt.Sprintf("Latency/mode=%%s/between=threads/pairs=1/size=%d", size), notWorse, report.Goal{})
	}
	for _, plane := range []string{"xz", "yz"} {
		compare("halo of cube, plane "+plane, "Halo/mode=%s/grid=cube/plane="+plane+"/threads=1", notWorse, percent)
	}
	for _, edge := range edges {
		counted := percent
		if edge == edgesOfGradient[0] {
			counted = report.Goal{}
		}
		compare(fmt.Sprintf("conjugate gradients, edge %d", edge), fmt.Sprintf("Gradient/mode=%%s/ranks=2/size=%d", edge), notWorse, counted)
	}
	return s
}
