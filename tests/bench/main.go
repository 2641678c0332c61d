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
//
// A C program of the folder programs prints its own benchmark lines after checking its
// answers. micro.c measures the runtime itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	os.Exit(code)
}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error) {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return report.NotDone, fmt.Errorf("%w; -h lists the options", err)
	case o.plot:
		for _, raw := range o.files {
			if _, err := maker.Write(raw, stdout); err != nil {
				return report.NotDone, err
			}
		}
		return 0, nil
	}
	s := o.suite()
	if err := compile(ctx, s.commands); err != nil {
		return report.NotDone, err
	}
	if o.build {
		return 0, nil
	}
	if o.only != nil {
		if s.contests = turns.Only(s.contests, o.only); len(s.contests) == 0 {
			return report.NotDone, fmt.Errorf("-only %s: matches nothing that is measured", o.only)
		}
	}
	return o.bench(ctx, s, stdout, stderr)
}

// bench measures, and writes the results.
func (o options) bench(ctx context.Context, s suite, stdout, stderr io.Writer) (code int, err error) {
	built, err := os.ReadFile(builtFile)
	if err != nil {
		return report.NotDone, err
	}
	r := report.Run{Out: o.out, Header: string(built) + o.measured(), Contests: s.contests, Turns: o.runs, Check: o.check, Maker: maker}
	for _, why := range s.leftOut {
		r.Notes = append(r.Notes, "left out: "+why)
	}
	return r.Measure(ctx, stdout, stderr)
}

var maker = report.Maker{Again: "scripts/bench -plot", Goals: goalsOf}
