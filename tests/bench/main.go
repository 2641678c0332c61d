// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures thread ranks against today's two ways, flat and
// threaded MPI, and our mpiexec against mpiexec.hydra. scripts/bench builds and
// runs it, in the repository's root folder or in that of a packed tree.
//
// It builds what it needs, runs the sides of each comparison in turns, so that
// a change of the machine's mood meets all, and makes a folder of results:
// raw.txt has a header about the machine, Go benchmark lines (for benchstat) and
// notes; summary.md and the plots are made of raw.txt alone.
//
// With -copies it measures something else: private copies of libraries that are not made
// for threads (examples/hostile, whose packages it needs), against processes and dlmopen.
// With -openmpi it measures private ranks of Open MPI's programs against its processes,
// with -many how long up to 512 ranks of one process take from start to end, and with
// -collectives collective operations of the ranks of one process by load and store. With
// -progress it measures what ranks do with a rank that computes, alone and, with -kernels,
// as parts of programs. With -calls it measures what it costs to note and to count calls,
// with -embedded a solver on ranks that a program starts by TPSL_Run, with -python
// private ranks of Python and arrays that they share, with -rtm the forms of
// examples/apps/rtm, and with -multiple latencies of threads that share a rank.
//
// A program of the folder programs prints its own benchmark lines after checking its
// answers. micro.c measures the runtime itself.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func main() { report.Main("bench", run) }

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error) {
	o, err := parse(args, stdout)
	if err != nil {
		return report.NotDone, err
	}
	if o.Plot {
		return maker.Anew(o.Files, stdout)
	}
	s := o.suite()
	if err := compile(ctx, s.commands); err != nil {
		return report.NotDone, err
	}
	if o.build {
		return 0, nil
	}
	if o.Only != nil {
		if s.contests = turns.Only(s.contests, o.Only); len(s.contests) == 0 {
			return report.NotDone, fmt.Errorf("-only %s: matches nothing that is measured", o.Only)
		}
	}
	return o.bench(ctx, s, stdout, stderr)
}

// bench measures, and writes the results.
func (o *options) bench(ctx context.Context, s suite, stdout, stderr io.Writer) (code int, err error) {
	built, err := os.ReadFile(builtFile)
	if err != nil {
		return report.NotDone, err
	}
	r := report.Run{Options: o.Options, Suffix: s.suffix, Header: string(built) + o.measured(), Contests: s.contests, Maker: maker}
	for _, why := range s.leftOut {
		r.Notes = append(r.Notes, "left out: "+why)
	}
	return r.Measure(ctx, stdout, stderr)
}

var maker = report.Maker{Again: "scripts/bench -plot", Goals: goalsOf}
