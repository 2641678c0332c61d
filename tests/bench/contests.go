// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// A plan is how much is measured, and where.
type plan struct {
	cores        []int // a CPU of each
	milliseconds int   // of one figure
	cut          int   // each dimension of the paper's halo grids is divided by this
	quick        bool  // fewer sizes, pairs and grids; all that goals are about
}

// mpi measures thread ranks beside flat and threaded ones.
func mpi(quick bool) suite {
	p := plan{cores: usableCores(), milliseconds: 40, cut: 2, quick: quick}
	if quick {
		p.milliseconds = 20
	}
	return p.suite()
}

// suite builds each program flat and with thread ranks.
func (p plan) suite() suite {
	s := suite{contests: p.contests(), goals: p.goals()}
	if why := hostsMissing(p.cores); why == "" {
		s.contests, s.goals = append(s.contests, p.hosts()...), append(s.goals, goalsOfHosts()...)
	} else {
		s.leftOut = append(s.leftOut, why)
	}
	ends := filepath.Join(sourceFolder, "ends.c")
	for _, name := range []string{"latency", "stream", "halo", "collective", "overlap", "memory"} {
		s.commands = append(s.commands, append(cc("mpicc.mpich", name), ends), append(cc("bin/tpslcc", name), ends))
	}
	s.commands = append(s.commands, []string{"cp", filepath.Join(sourceFolder, "two-hosts"), twoHosts},
		cc("mpicc.mpich", "startup"), cc("bin/tpslcc", "startup"), cc("mpicc.mpich", "crowded"), cc("bin/tpslcc", "crowded"), cc("bin/tpslcc", "micro"),
		cc("gcc", "pmi"), cc("gcc", "limits"))
	return s
}

func (p plan) contests() (all []contest) {
	all = append(all, p.limits())
	for _, pairs := range p.pairs() {
		all = append(all, p.ends("latency", pairs, append([]int{0}, p.sizes()...)), p.ends("stream", pairs, p.sizes()))
	}
	all = append(all, p.halos()...)
	all = append(all, p.ranksOfOneProcess()...)
	all = append(all, launches(16), launches(256), launchOnHosts(), startups(16), p.memory(16), p.startupsOf64(), p.crowded(), pmiCalls(64))
	return append(all, contest{time.Minute, []side{{argv: []string{"bin/mpiexec", "-n", "8", "-rpp", "8", program("micro", "tpslcc")}}}})
}

func pmiCalls(ranks int) contest {
	n, client := fmt.Sprint(ranks), program("pmi", "gcc")
	return contest{time.Minute, []side{
		{argv: []string{"mpiexec.hydra", "-n", n, client, "mpiexec.hydra"}},
		{argv: []string{"bin/mpiexec", "-n", n, client, "mpiexec"}},
	}}
}

// memory compares what a rank takes.
func (p plan) memory(ranks int) contest {
	n, plain := fmt.Sprint(ranks), program("memory", "mpicc.mpich")
	one := []string{"OMP_NUM_THREADS=1"}
	return contest{time.Minute, []side{
		{env: one, argv: []string{"bin/mpiexec", "-n", n, plain, "flat", "1"}},
		{argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, program("memory", "tpslcc"), "tpsl", n}},
		{env: one, argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, plain, "private", n}},
	}}
}
