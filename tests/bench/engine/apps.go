// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// Each application is a command of examples/engine, which checks its own answer.
func init() {
	app("dt", "DT", "NAS DT: data along the arcs of a graph, by matcher", dts, 2, []report.Goal{
		{What: "NAS DT BH, table/queues", Name: "DT/graph=BH/class=W/" + keys(4, 1, "private", "table"), Base: "DT/graph=BH/class=W/" + keys(4, 1, "private", "queues")},
		{What: "NAS DT WH, table/queues", Name: "DT/graph=WH/class=W/" + keys(4, 1, "private", "table"), Base: "DT/graph=WH/class=W/" + keys(4, 1, "private", "queues")},
		{What: "NAS DT SH, table/queues", Name: "DT/graph=SH/class=W/" + keys(4, 1, "private", "table"), Base: "DT/graph=SH/class=W/" + keys(4, 1, "private", "queues")},
	})
	app("uts", "UTS", "unbalanced tree search with stealing, with servers or without", utses, 4, []report.Goal{
		{What: "tree search of T3, 2 threads/1", Name: "UTS/tree=T3/" + keys(2, 1, "private", "table"), Base: "UTS/tree=T3/" + keys(1, 1, "private", "table")},
		{What: "tree search of T3, 2 ports, with a server each/without", Name: "UTS/tree=T3/" + keys(2, 2, "global", "table"), Base: "UTS/tree=T3/" + keys(2, 1, "private", "table")},
	})
	app("bfs", "BFS", "Graph500's search, in three forms and by model", searches, 4, []report.Goal{
		{What: "breadth-first search, 2 ports, receiver threads/reference", Name: "BFS/form=receivers/scale=14/" + keys(2, 2, "global", "table"), Base: "BFS/form=reference/scale=14/" + keys(2, 1, "private", "table")},
		{What: "breadth-first search, 2 ports, hybrid/reference", Name: "BFS/form=hybrid/scale=14/" + keys(2, 2, "global", "table"), Base: "BFS/form=reference/scale=14/" + keys(2, 1, "private", "table")},
	})
	app("sweep", "Sweep", "a sweep such as SNAP's, by ports, mates and model", sweeps, 4, []report.Goal{
		{What: "sweep, 2 ports/1", Name: "Sweep/" + keys(2, 1, "private", "table"), Base: "Sweep/" + keys(1, 1, "private", "table")},
		{What: "sweep, 2 ports of 2 mates, global/2 ports", Name: "Sweep/" + keys(2, 2, "global", "table"), Base: "Sweep/" + keys(2, 1, "private", "table")},
	})
}

// keys are those of an application's crew, see examples/engine.
func keys(threads, mates int, model, matcher string) string {
	return fmt.Sprintf("threads=%d/mates=%d/model=%s/matcher=%s/as=goroutines", threads, mates, model, matcher)
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

// counts are the numbers of ports that an application is run with: never more than four times the cores.
func (p plan) counts() (all []int) {
	for _, n := range p.threads {
		if n <= 4*len(p.cores) && (!p.quick || n <= 2) {
			all = append(all, n)
		}
	}
	return all
}

func utses(p plan) (runs [][]string) {
	for _, n := range p.counts() {
		runs = append(runs, []string{"-tree", "T3", "-threads", fmt.Sprint(n)})
	}
	for _, model := range shared() {
		runs = append(runs, []string{"-tree", "T3", "-threads", "2", "-servers", "-model", model})
	}
	return runs
}

func searches(p plan) (runs [][]string) {
	for _, n := range p.counts() {
		runs = append(runs, []string{"-scale", "14", "-threads", fmt.Sprint(n)})
	}
	for _, form := range []string{"receivers", "hybrid"} {
		for _, model := range shared() {
			runs = append(runs, []string{"-scale", "14", "-threads", "2", "-form", form, "-model", model})
		}
	}
	return runs
}

func sweeps(p plan) (runs [][]string) {
	for _, n := range p.counts() {
		runs = append(runs, []string{"-threads", fmt.Sprint(n)})
	}
	for _, model := range shared() {
		runs = append(runs, []string{"-threads", "2", "-mates", "2", "-model", model})
	}
	return runs
}
