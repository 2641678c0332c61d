// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command uts runs the unbalanced tree search benchmark on the message engine: it counts the nodes of a tree
// whose branches differ wildly in size, so that threads without work steal nodes from others, by messages.
//
//	go run ./examples/engine/uts -threads 4 -tree T3
//	go run ./examples/engine/uts -threads 4 -tree T3 -servers -model global
//
// A node's random numbers follow by SHA-1 from its parent's, so the tree is the same whoever counts
// it. T1, geometric, and T3, binomial, are of the published four million nodes; -seed plants other ones.
// With -servers a second thread of each port answers those who steal; without, the
// thread that counts looks for them now and then.
package main

import (
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

func main() { crew.Main("uts", run) }

func run(args []string, stdout io.Writer) error {
	o := options{Options: crew.Options{Mates: 1}}
	set := flag.NewFlagSet("uts", flag.ContinueOnError)
	o.Flags(set)
	name := set.String("tree", "T1", "`tree`: T1, T3, T1-small or T3-small")
	seed := set.Uint("seed", 0, "plant this one instead of the tree's own `seed`")
	servers := set.Bool("servers", false, "answer those who steal by a second thread of each port")
	set.IntVar(&o.chunk, "chunk", 20, "`nodes` that are stolen at once")
	set.IntVar(&o.interval, "interval", 64, "`nodes` between two looks for those who steal")
	if err := set.Parse(args); err != nil {
		return err
	}
	t, ok := trees[*name]
	switch {
	case !ok:
		return fmt.Errorf("-tree %s: there are T1, T3, T1-small and T3-small", *name)
	case o.chunk < 1 || o.interval < 1:
		return fmt.Errorf("-chunk %d -interval %d: need at least one node", o.chunk, o.interval)
	case *seed != 0:
		t.seed, t.published = uint32(*seed), totals{}
	}
	if *servers {
		o.Mates = 2
	}
	if err := o.Check(); err != nil {
		return err
	}
	begin := time.Now()
	is, got, err := search(o, &t)
	took := time.Since(begin)
	if err != nil || !is.Leads {
		return err
	}
	beside, err := t.check(got.totals)
	if err != nil {
		return fmt.Errorf("%s: %w", *name, err)
	}
	fmt.Fprintf(stdout, "UTS %s: %d nodes, %d leaves, depth %d: as %s; stolen %d times\n", *name, got.nodes, got.leaves, got.depth, beside, got.thefts)
	fmt.Fprintf(stdout, "BenchmarkUTS/tree=%s/%s 1 %.5g Mnodes/s\n", *name, o.Keys(is), float64(got.nodes)/1e6/took.Seconds())
	return nil
}

// check compares totals with the published ones, or else with those of one thread.
func (t *tree) check(got totals) (beside string, err error) {
	want, beside := t.published, "published"
	if want == (totals{}) {
		want, beside = t.serial(), "serial"
	}
	if got != want {
		return "", fmt.Errorf("%d nodes, %d leaves, depth %d; %s are %d, %d and %d",
			got.nodes, got.leaves, got.depth, beside, want.nodes, want.leaves, want.depth)
	}
	return beside, nil
}
