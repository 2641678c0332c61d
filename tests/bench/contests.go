// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// A plan is how much is measured, and where.
type plan struct {
	cores        []int // a CPU of each
	milliseconds int   // of one figure
	cut          int   // each dimension of the paper's halo grids is divided by this
	quick        bool  // fewer sizes, pairs and grids; all that goals are about
}

// mpi measures thread ranks beside flat and threaded ones.
func mpi(quick bool) suite { return mpiPlan(quick).suite() }

func mpiPlan(quick bool) plan {
	p := plan{cores: machine.Cores(), milliseconds: 40, cut: 2, quick: quick}
	if quick {
		p.milliseconds = 20
	}
	return p
}

// suite builds each program flat and with thread ranks.
func (p plan) suite() suite {
	s := suite{contests: p.contests(), goals: p.goals()}
	if why := hostsMissing(p.cores); why == "" {
		s.contests, s.goals = append(s.contests, p.hosts()...), append(s.goals, goalsOfHosts()...)
	} else {
		s.leftOut = append(s.leftOut, why)
	}
	ends := filepath.Join(turns.Sources, "ends.c")
	for _, name := range []string{"latency", "stream", "halo", "collective", "overlap", "memory"} {
		s.commands = append(s.commands, append(turns.CC("mpicc.mpich", name), ends), append(turns.CC("bin/tpslcc", name), ends))
	}
	s.commands = append(s.commands, []string{"cp", filepath.Join(turns.Sources, "two-hosts"), twoHosts},
		turns.CC("mpicc.mpich", "startup"), turns.CC("bin/tpslcc", "startup"), turns.CC("mpicc.mpich", "crowded"), turns.CC("bin/tpslcc", "crowded"), turns.CC("bin/tpslcc", "micro"),
		turns.CC("gcc", "pmi"), turns.CC("gcc", "limits"))
	return s
}

func (p plan) contests() (all []turns.Contest) {
	all = append(all, p.limits())
	for _, pairs := range p.pairs() {
		all = append(all, p.ends("latency", pairs, append([]int{0}, p.sizes()...)), p.ends("stream", pairs, p.sizes()))
	}
	all = append(all, p.halos()...)
	all = append(all, p.ranksOfOneProcess()...)
	all = append(all, launches(16), launches(256), launchOnHosts(), startups(16), p.memory(16), p.startupsOf64(), p.crowded(), pmiCalls(64))
	return append(all, turns.Contest{Limit: time.Minute, Sides: []turns.Side{{Argv: []string{"bin/mpiexec", "-n", "8", "-rpp", "8", turns.Program("micro", "tpslcc")}}}})
}

func pmiCalls(ranks int) turns.Contest {
	n, client := fmt.Sprint(ranks), turns.Program("pmi", "gcc")
	return turns.Contest{Limit: time.Minute, Sides: []turns.Side{
		{Argv: []string{"mpiexec.hydra", "-n", n, client, "mpiexec.hydra"}},
		{Argv: []string{"bin/mpiexec", "-n", n, client, "mpiexec"}},
	}}
}

// memory compares what a rank takes.
func (p plan) memory(ranks int) turns.Contest {
	n, plain := fmt.Sprint(ranks), turns.Program("memory", "mpicc.mpich")
	one := []string{"OMP_NUM_THREADS=1"}
	return turns.Contest{Limit: time.Minute, Sides: []turns.Side{
		{Env: one, Argv: []string{"bin/mpiexec", "-n", n, plain, "flat", "1"}},
		{Argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, turns.Program("memory", "tpslcc"), "tpsl", n}},
		{Env: one, Argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, plain, "private", n}},
	}}
}
