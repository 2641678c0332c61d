// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// Each application is a command of examples/engine, which checks its own answer. The goals are the papers' claims:
// matching by table costs a program nothing, ports that threads share do as well as a port for each thread, and
// offload gains where it has cores of its own.
func init() {
	table, queues := crew{4, 1, "private", "table", "goroutines"}, crew{4, 1, "private", "queues", "goroutines"}
	app("dt", "DT", "NAS DT: data along the arcs of a graph, by matcher", dts, 2, []report.Goal{
		notWorse(compare("NAS DT BH, table/queues", "DT/graph=BH/class=W", table, queues)),
		notWorse(compare("NAS DT WH, table/queues", "DT/graph=WH/class=W", table, queues)),
		notWorse(compare("NAS DT SH, table/queues", "DT/graph=SH/class=W", table, queues)),
	})
	one, two, manyGo, manyUser := ports(1), ports(2), ports(8), ports(8)
	manyUser.as = "fult"
	app("uts", "UTS", "unbalanced tree search with stealing, with servers or without", utses, 4, []report.Goal{
		compare("tree search of T3, 2 threads/1", "UTS/tree=T3", two, one),
		compare("tree search of T3, 2 ports, with a server each/without", "UTS/tree=T3", mates("global"), two),
		compare("tree search of T3, 8 user-level threads/goroutines", "UTS/tree=T3", manyUser, manyGo),
	})
	app("bfs", "BFS", "Graph500's search, in three forms and by model", searches, 4, []report.Goal{
		notWorse(against("breadth-first search, 2 ports, receiver threads/reference", "BFS/form=receivers/scale=16", mates("global"), "BFS/form=reference/scale=16", two)),
		notWorse(against("breadth-first search, 2 ports, hybrid/reference", "BFS/form=hybrid/scale=16", mates("global"), "BFS/form=reference/scale=16", two)),
		compare("breadth-first search, hybrid, LockQ/CSync", "BFS/form=hybrid/scale=16", mates("lockq"), mates("csync")),
		compare("breadth-first search, hybrid, LockQ/offload", "BFS/form=hybrid/scale=16", mates("lockq"), mates("offload")),
		compare("breadth-first search, 8 user-level threads/goroutines", "BFS/form=reference/scale=16", manyUser, manyGo),
	})
	offload := compare("sweep, 4 ports, offload/LockQ", "Sweep", crew{4, 1, "offload", "table", "goroutines"}, crew{4, 1, "lockq", "table", "goroutines"})
	offload.AtLeast = 1.3
	app("sweep", "Sweep", "a sweep such as SNAP's, by ports, mates and model", sweeps, 4, []report.Goal{
		compare("sweep, 2 ports/1", "Sweep", two, one),
		compare("sweep, 2 ports of 2 mates, global/2 ports", "Sweep", mates("global"), two),
		compare("sweep, 2 ports of 2 mates, LockQ/global", "Sweep", mates("lockq"), mates("global")),
		offload,
		compare("sweep, 8 user-level threads/goroutines", "Sweep", manyUser, manyGo),
	})
}

// A crew is the crew of one run, see examples/engine.
type crew struct {
	threads, mates     int
	model, matcher, as string
}

// ports is a crew of so many, each with a goroutine.
func ports(n int) crew { return crew{n, 1, "private", "table", "goroutines"} }

// mates is a crew of two ports with two threads each.
func mates(model string) crew { return crew{2, 2, model, "table", "goroutines"} }

func (r crew) String() string {
	return fmt.Sprintf("threads=%d/mates=%d/model=%s/matcher=%s/as=%s", r.threads, r.mates, r.model, r.matcher, r.as)
}

// compare makes a goal of two crews.
func compare(what, name string, r, base crew) report.Goal { return against(what, name, r, name, base) }

func against(what, name string, r crew, baseName string, base crew) report.Goal {
	return report.Goal{What: what, Name: name + "/" + r.String(), Base: baseName + "/" + base.String()}
}

func notWorse(g report.Goal) report.Goal {
	g.NotWorse = true
	return g
}

// app registers an application; below so many cores its threads do not run at once.
func app(command, name, about string, runs func(p plan) [][]string, cores int, goals []report.Goal) {
	binary := turns.Built + "/" + command
	register(bench{
		name:     name,
		about:    about,
		cores:    cores,
		commands: [][]string{{"go", "build", "-o", binary, "./examples/engine/" + command}},
		goals:    goals,
		contests: func(p plan) []turns.Contest {
			c := turns.Contest{Limit: time.Minute}
			for _, args := range runs(p) {
				c.Sides = append(c.Sides, turns.Side{Argv: append([]string{binary}, args...)})
			}
			return []turns.Contest{c}
		},
	})
}

// shared are the models of a port that threads share.
func shared() (names []string) {
	for _, model := range engine.Models()[1:] {
		names = append(names, model.String())
	}
	return names
}

func dts(p plan) (runs [][]string) {
	rounds := "20"
	if p.quick {
		rounds = "5"
	}
	for _, graph := range []string{"BH", "WH", "SH"} {
		for _, matcher := range []string{"table", "queues"} {
			runs = append(runs, []string{"-graph", graph, "-class", "W", "-rounds", rounds, "-matcher", matcher})
		}
	}
	return runs
}

// onPorts adds to a command's options: the numbers of ports that it is run with, by goroutines, and the largest by user-level threads, too.
func (p plan) onPorts(options ...string) (runs [][]string) {
	const largest = 8
	for _, n := range p.threads {
		if n < largest && (!p.quick || n <= 2) {
			runs = append(runs, append(slices.Clone(options), "-threads", fmt.Sprint(n)))
		}
	}
	return append(runs, append(slices.Clone(options), "-threads", fmt.Sprint(largest)),
		append(slices.Clone(options), "-threads", fmt.Sprint(largest), "-threads-as", "fult"))
}

// onShared adds the models of a port that threads share.
func onShared(options ...string) (runs [][]string) {
	for _, model := range shared() {
		runs = append(runs, append(slices.Clone(options), "-model", model))
	}
	return runs
}

func utses(p plan) [][]string {
	return append(p.onPorts("-tree", "T3"), onShared("-tree", "T3", "-threads", "2", "-servers")...)
}

func searches(p plan) [][]string {
	return slices.Concat(p.onPorts("-scale", "16", "-roots", "4"), onShared("-scale", "16", "-roots", "4", "-threads", "2", "-form", "receivers"),
		onShared("-scale", "16", "-roots", "4", "-threads", "2", "-form", "hybrid"))
}

func sweeps(p plan) [][]string {
	return slices.Concat(p.onPorts(), onShared("-threads", "2", "-mates", "2"), onShared("-threads", "4"))
}
