// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

// launchers are ours and the one that it is compared with.
var launchers = []struct{ name, path string }{{"mpiexec.hydra", "mpiexec.hydra"}, {"mpiexec", "bin/mpiexec"}}

// launches compares the launch of ranks that do nothing.
func launches(ranks int) contest {
	n, c := fmt.Sprint(ranks), contest{limit: 30 * time.Second}
	for _, by := range launchers {
		c.sides = append(c.sides, side{job: "Launch/by=" + by.name + "/ranks=" + n, argv: []string{by.path, "-n", n, "true"}})
	}
	return c
}

// launchOnHosts compares 64 proxies on this machine with 4 ranks each, which meet in one barrier of PMI: when ranks only end,
// Hydra dies of SIGPIPE before all of them have run.
func launchOnHosts() contest {
	const proxies, ranks = 64, "256"
	var hosts []string
	for i := range proxies {
		hosts = append(hosts, fmt.Sprintf("h%d:4", i))
	}
	c := contest{limit: 30 * time.Second}
	for _, by := range launchers {
		c.sides = append(c.sides, side{
			job:  fmt.Sprintf("Launch/by=%s/proxies=%d/ranks=%s", by.name, proxies, ranks),
			argv: []string{by.path, "-launcher", "fork", "-hosts", strings.Join(hosts, ","), "-n", ranks, program("pmi", "gcc"), by.name, "once"},
		})
	}
	return c
}

func goalsOfLaunches() (all []goal) {
	compare := func(what, benchmark string, g goal) {
		all = append(all, byBoth(what, benchmark, g))
	}
	compare("launch of 16", "Launch/by=%s/ranks=16", goal{notWorse: true})
	compare("launch of 256", "Launch/by=%s/ranks=256", goal{notWorse: true})
	compare("launch of 64 proxies with 4 ranks", "Launch/by=%s/proxies=64/ranks=256", goal{atMost: 0.8})
	return all
}

// byBoth makes a goal of a benchmark that has a launcher's name in it.
func byBoth(what, benchmark string, g goal) goal {
	g.what, g.name, g.base = what+", mpiexec/mpiexec.hydra", fmt.Sprintf(benchmark, "mpiexec"), fmt.Sprintf(benchmark, "mpiexec.hydra")
	return g
}
