// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command sweep solves a transport problem such as SNAP's on the message engine: a grid of ports
// shares a box of cells, and sweeps of eight directions run through it from corner to corner, as KBA pipelines. The flux is
// compared with that of one thread, bit for bit.
//
//	go run ./examples/engine/sweep -threads 4
//	go run ./examples/engine/sweep -threads 2 -mates 2 -model global
//
// The mates of a port share its cells and deal out the energy groups, whose messages have tags of their own.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

func main() { crew.Main("sweep", run) }

func run(args []string, stdout io.Writer) error {
	var o crew.Options
	var p problem
	set := flag.NewFlagSet("sweep", flag.ContinueOnError)
	o.Flags(set)
	set.IntVar(&o.Mates, "mates", 1, "`number` of threads that share a port")
	set.IntVar(&p.nx, "nx", 32, "`cells` along x")
	set.IntVar(&p.ny, "ny", 24, "`cells` along y, dealt out")
	set.IntVar(&p.nz, "nz", 24, "`cells` along z, dealt out")
	set.IntVar(&p.angles, "angles", 8, "`number` of angles in an octant")
	set.IntVar(&p.groups, "groups", 4, "`number` of energy groups")
	set.IntVar(&p.chunk, "chunk", 8, "`cells` along x that are swept at once")
	set.IntVar(&p.iterations, "iterations", 3, "`number` of iterations")
	if err := set.Parse(args); err != nil {
		return err
	}
	if min(p.nx, p.ny, p.nz, p.angles, p.groups, p.chunk, p.iterations) < 1 {
		return errors.New("sizes and numbers: each is at least 1")
	}
	if err := o.Check(); err != nil {
		return err
	}
	p.prepare()
	begin := time.Now()
	is, err := crew.Run(o, func(m *crew.Member) error { return p.solve(m, gridOf(m.Size), max(1, o.Mates)) })
	took := time.Since(begin)
	if err != nil || !is.Leads {
		return err
	}
	g := gridOf(is.Ranks)
	if err := p.check(p.serial()); err != nil {
		return err
	}
	steps := p.nx * p.ny * p.nz * p.angles * octants * p.groups * p.iterations
	fmt.Fprintf(stdout, "sweep of %dx%dx%d cells on %dx%d ports: the flux is that of one thread, bit for bit\n", p.nx, p.ny, p.nz, g.ys, g.zs)
	fmt.Fprintf(stdout, "BenchmarkSweep/%s %d %.5g ns/step\n", o.Keys(is), p.iterations, float64(took.Nanoseconds())/float64(steps))
	return nil
}

// check compares the flux.
func (p *problem) check(want [][]float64) error {
	for g := range want {
		for at, v := range want[g] {
			if got := p.flux[g][at]; math.Float64bits(got) != math.Float64bits(v) {
				return fmt.Errorf("group %d, cell %d: the flux is %v, of one thread %v", g, at, got, v)
			}
		}
	}
	return nil
}
