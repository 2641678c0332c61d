// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// launchers are ours and the one that it is compared with.
var launchers = []struct{ name, path string }{{"mpiexec.hydra", "mpiexec.hydra"}, {"mpiexec", "bin/mpiexec"}}

// launches compares the launch of ranks that do nothing.
func launches(ranks int) turns.Contest {
	n, c := fmt.Sprint(ranks), turns.Contest{Limit: 30 * time.Second}
	for _, by := range launchers {
		c.Sides = append(c.Sides, turns.Side{Job: "Launch/by=" + by.name + "/ranks=" + n, Argv: []string{by.path, "-n", n, "true"}})
	}
	return c
}

// launchOnHosts compares 64 proxies on this machine with 4 ranks each, which meet in one barrier of PMI: when ranks only end,
// Hydra dies of SIGPIPE before all of them have run.
func launchOnHosts() turns.Contest {
	const proxies, ranks = 64, "256"
	var hosts []string
	for i := range proxies {
		hosts = append(hosts, fmt.Sprintf("h%d:4", i))
	}
	c := turns.Contest{Limit: 30 * time.Second}
	for _, by := range launchers {
		c.Sides = append(c.Sides, turns.Side{
			Job:  fmt.Sprintf("Launch/by=%s/proxies=%d/ranks=%s", by.name, proxies, ranks),
			Argv: []string{by.path, "-launcher", "fork", "-hosts", strings.Join(hosts, ","), "-n", ranks, turns.Program("pmi", "gcc"), by.name, "once"},
		})
	}
	return c
}

func goalsOfLaunches() (all []report.Goal) {
	compare := func(what, benchmark string, g report.Goal) {
		all = append(all, byBoth(what, benchmark, g))
	}
	compare("launch of 16", "Launch/by=%s/ranks=16", report.Goal{NotWorse: true})
	compare("launch of 256", "Launch/by=%s/ranks=256", report.Goal{NotWorse: true})
	compare("launch of 64 proxies with 4 ranks", "Launch/by=%s/proxies=64/ranks=256", report.Goal{AtMost: 0.8})
	return all
}

// byBoth makes a goal of a benchmark that has a launcher's name in it.
func byBoth(what, benchmark string, g report.Goal) report.Goal {
	g.What, g.Name, g.Base = what+", mpiexec/mpiexec.hydra", fmt.Sprintf(benchmark, "mpiexec"), fmt.Sprintf(benchmark, "mpiexec.hydra")
	return g
}
