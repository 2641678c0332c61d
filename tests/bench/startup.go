// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// A setting is what all sides of a start-up contest have in their environment.
type setting struct {
	name string
	env  []string
}

// settings are those in which 64 ranks start. With nolocal ranks do not meet in MPICH's shared
// memory, whose barriers of start-up spin; MPI_COMM_TYPE_SHARED has one rank then. The best one has
// what one host needs of UCX, too; HWLOC_COMPONENTS tpsl sets itself where ranks are crowded, and the last one to 65.
var settings = []setting{
	{"default", nil},
	{"nolocal", []string{"MPIR_CVAR_NOLOCAL=1"}},
	{best, []string{"MPIR_CVAR_NOLOCAL=1", "UCX_TLS=posix,cma,self", "HWLOC_COMPONENTS=-pci,-linux:pci", "UCX_MM_RX_BUFS_GROW=64"}},
}

// best is the setting in which all modes start 64 ranks fastest.
const best = "best"

// yields gives flat ranks what crowded ranks of tpsl have.
const yields = "LD_PRELOAD=lib/tpsl/libtpslyield.so"

// startup is a side that starts ranks and ends them.
func startup(by, mode string, ranks, perProcess int) turns.Side {
	name := fmt.Sprintf("Startup/by=%s/mode=%s/ranks=%d", by, mode, ranks)
	argv := []string{"bin/mpiexec", "-n", fmt.Sprint(ranks), "-rpp", fmt.Sprint(perProcess), turns.Program("startup", "mpicc.mpich")}
	switch {
	case by == "mpiexec.hydra":
		argv = []string{by, "-n", fmt.Sprint(ranks), argv[5]}
	case mode == "tpsl":
		argv[5] = turns.Program("startup", "tpslcc")
	}
	var env []string
	if mode != "tpsl" || perProcess == 1 {
		env = append(env, "OMP_NUM_THREADS=1")
	}
	return turns.Side{Job: name, Env: env, Argv: argv, Want: fmt.Sprintf("%d ranks\n", ranks)}
}

func startups(ranks int) turns.Contest {
	return turns.Contest{Limit: time.Minute, Sides: []turns.Side{
		startup("mpiexec.hydra", "flat", ranks, 1),
		startup("mpiexec", "flat", ranks, 1),
		startup("mpiexec", "tpsl", ranks, ranks),
		startup("mpiexec", "private", ranks, ranks),
	}}
}

// startupsOf64 compares ranks in 4 processes with flat ones, of both launchers.
func (p plan) startupsOf64() turns.Contest {
	c := turns.Contest{Limit: time.Minute}
	for _, set := range settings {
		if p.quick && set.name != best {
			continue
		}
		yielding := startup("mpiexec", "flat-yields", 64, 1)
		yielding.Env = append(yielding.Env, yields)
		for _, s := range []turns.Side{
			startup("mpiexec.hydra", "flat", 64, 1), startup("mpiexec", "flat", 64, 1), yielding,
			startup("mpiexec", "tpsl", 64, 16), startup("mpiexec", "private", 64, 16),
		} {
			s.Job += "/setting=" + set.name
			s.Env = append(s.Env, set.env...)
			c.Sides = append(c.Sides, s)
		}
	}
	return c
}

// crowded compares collectives of four ranks for each core. Flat ranks wait for their time slices,
// so a few rounds must do.
func (p plan) crowded() turns.Contest {
	ranks := 4 * len(p.cores)
	n, plain, one := fmt.Sprint(ranks), turns.Program("crowded", "mpicc.mpich"), "OMP_NUM_THREADS=1"
	return turns.Contest{Limit: 30 * time.Second, Sides: []turns.Side{
		{Env: []string{one}, Argv: []string{"bin/mpiexec", "-n", n, plain, "flat", "5"}},
		{Env: []string{one, yields}, Argv: []string{"bin/mpiexec", "-n", n, plain, "flat-yields", "200"}},
		{Argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, turns.Program("crowded", "tpslcc"), "tpsl", "200"}},
		{Env: []string{one}, Argv: []string{"bin/mpiexec", "-n", n, "-rpp", n, plain, "private", "200"}},
	}}
}

// goalsOfStartups are those of many ranks on few cores.
func (p plan) goalsOfStartups() (all []report.Goal) {
	compare := func(g report.Goal, mode, what, benchmark string) {
		g.What, g.Name, g.Base = what+", "+mode+"/flat", fmt.Sprintf(benchmark, mode), fmt.Sprintf(benchmark, "flat")
		all = append(all, g)
	}
	for _, set := range settings {
		if !p.quick || set.name == best {
			all = append(all, byBoth("start-up of 64 flat ranks, setting "+set.name, "Startup/by=%s/mode=flat/ranks=64/setting="+set.name, report.Goal{NotWorse: true}))
		}
	}
	for _, mode := range []string{"tpsl", "private", "flat-yields"} {
		for _, set := range settings {
			g := report.Goal{}
			if mode == "tpsl" && set.name == best {
				g.AtMost = 0.7
			}
			if !p.quick || set.name == best {
				compare(g, mode, "start-up of 64 ranks, setting "+set.name, "Startup/by=mpiexec/mode=%s/ranks=64/setting="+set.name)
			}
		}
		for _, call := range []string{"Barrier", "Sum"} {
			compare(report.Goal{}, mode, call+" of four ranks for each core", fmt.Sprintf("Crowded%s/mode=%%s/ranks=%d", call, 4*len(p.cores)))
		}
	}
	return all
}
