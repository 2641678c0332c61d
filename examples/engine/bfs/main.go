// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command bfs runs the breadth-first search of Graph500 on the message engine: a Kronecker graph's
// vertices are dealt out to ports, and the threads send what they find to its owners. Every tree is checked by the benchmark's
// rules and against a search of one thread.
//
//	go run ./examples/engine/bfs -threads 4 -scale 14
//	go run ./examples/engine/bfs -threads 2 -form hybrid -mates 2 -model global
//
// In the form reference a port has one thread; with receivers a second one receives;
// in hybrid the mates of a port all scan and receive, and find out by consensus that a level is over.
package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

func main() { crew.Main("bfs", run) }

// A job is what is searched, and how.
type job struct {
	crew.Options
	form         string
	scale, roots int
	seed         uint64
}

func run(args []string, stdout io.Writer) error {
	var j job
	set := flag.NewFlagSet("bfs", flag.ContinueOnError)
	j.Flags(set)
	set.IntVar(&j.Mates, "mates", 2, "`number` of threads that share a port in the form hybrid")
	set.StringVar(&j.form, "form", reference, "`form` of the search: "+strings.Join(forms, ", "))
	set.IntVar(&j.scale, "scale", 12, "the graph has 2^`scale` vertices")
	set.IntVar(&j.roots, "roots", 8, "`number` of searches, each from another root")
	set.Uint64Var(&j.seed, "seed", 1, "of the graph and the roots")
	if err := set.Parse(args); err != nil {
		return err
	}
	switch {
	case !slices.Contains(forms, j.form):
		return fmt.Errorf("-form %s: there are %s", j.form, strings.Join(forms, ", "))
	case j.scale < 1 || j.scale > 30 || j.roots < 1:
		return fmt.Errorf("-scale %d -roots %d: the scale is 1 to 30, and there is at least one root", j.scale, j.roots)
	case j.form == reference:
		j.Mates = 1
	case j.form == receivers:
		j.Mates = 2
	}
	if err := j.Check(); err != nil {
		return err
	}
	is, rate, levels, err := j.search()
	if err != nil || !is.Leads {
		return err
	}
	fmt.Fprintf(stdout, "BFS of scale %d, %s: %d trees, of %d levels at most: valid, and as serial\n", j.scale, j.form, j.roots, levels)
	fmt.Fprintf(stdout, "BenchmarkBFS/form=%s/scale=%d/%s %d %.5g MTEPS\n", j.form, j.scale, j.Keys(is), j.roots, rate/1e6)
	return nil
}
