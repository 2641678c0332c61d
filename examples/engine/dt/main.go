// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command dt runs the data traffic benchmark of NPB, DT, on the message engine: data flow along the arcs of a
// graph from sources through comparators to sinks, whose sum is compared with the published one and a serial evaluation's.
//
//	go run ./examples/engine/dt -threads 4 -graph SH -class W
//
// The graphs are BH, many to one; WH, one to many; SH, a shuffle. Nodes are dealt out to the
// threads in turns, of all processes that mpiexec has started.
package main

import (
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

func main() { crew.Main("dt", run) }

func run(args []string, stdout io.Writer) error {
	var o crew.Options
	set := flag.NewFlagSet("dt", flag.ContinueOnError)
	o.Flags(set)
	name := set.String("graph", "BH", "`graph`: BH, WH or SH")
	letter := set.String("class", "S", "`class` of the problem: S, W or A")
	rounds := set.Int("rounds", 1, "how often the graph is run")
	if err := set.Parse(args); err != nil {
		return err
	}
	c, ok := classes[*letter]
	if !ok {
		return fmt.Errorf("-class %s: there are S, W and A", *letter)
	}
	g, err := newGraph(*name, c.width)
	if err != nil {
		return err
	}
	begin := time.Now()
	is, sum, bytes, err := evaluate(o, c, g, *rounds)
	took := time.Since(begin)
	if err != nil || !is.Leads {
		return err
	}
	if err := c.check(g, *name+"."+*letter, sum); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "DT %s.%s: %d nodes, %d threads, sum %.0f: as published and as serial\n", *name, *letter, len(g), is.Ranks, sum)
	fmt.Fprintf(stdout, "BenchmarkDT/graph=%s/class=%s/%s %d %.5g MB/s\n", *name, *letter, o.Keys(is), *rounds, float64(bytes)/1e6/took.Seconds())
	return nil
}

// check compares a sum with the published one and with that of one thread.
func (c class) check(g graph, name string, sum float64) error {
	if want := published[name]; sum != want {
		return fmt.Errorf("DT %s: the sum is %.0f, published is %.0f", name, sum, want)
	}
	if serial := c.serial(g); sum != serial {
		return fmt.Errorf("DT %s: the sum is %.0f, of one thread %.0f", name, sum, serial)
	}
	return nil
}
