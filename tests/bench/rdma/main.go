// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Command rdma measures thread ranks against flat and threaded MPI over RDMA, and what several rails are worth.
// scripts/bench-rdma builds and runs it, in the repository's root folder.
//
// The programs of tests/bench run in turns in two emulated machines (tests/rdma/guest) over soft-RoCE, reliable connections. Each run
// tells by which transports and devices its ranks talked, and one with another than it was given is an error. As emulation is slow,
// figures are good as ratios only.
//
// Rails are compared there and, where links and not CPUs are the limit, between two hosts of namespaces that
// two slow links of TCP join: all ranks by one rail, each of two ranks by a rail of its own, one rank by both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

const usage = `usage: scripts/bench-rdma [-quick] [-runs N] [-only REGEXP] [-out DIR] [-check]
       scripts/bench-rdma -plot RAW...

Measures thread ranks beside flat and threaded MPI over RDMA, between two emulated machines, and
rails, there and over TCP. Makes a folder <date>-<processor>-rdma with raw.txt (for benchstat),
summary.md and plots. It takes root. -only 'talk (flat|tpsl)' or -only two-hosts choose sides.

`

func main() { report.Main("bench-rdma", run) }

var maker = report.Maker{Again: "scripts/bench-rdma -plot", Goals: goals}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error) {
	var o report.Options
	if err := o.Parse(flag.NewFlagSet("bench-rdma", flag.ContinueOnError), args, usage, stdout); err != nil {
		return report.NotDone, err
	}
	if o.Plot {
		return maker.Anew(o.Files, stdout)
	}
	p, machines := plan{o.Quick}, newGuests(ctx)
	verbs, tcp := p.overVerbs(machines.network()), p.overTCP(hosts())
	if o.Only != nil {
		verbs, tcp = turns.Only(verbs, o.Only), turns.Only(tcp, o.Only)
	}
	if len(verbs)+len(tcp) == 0 {
		return report.NotDone, fmt.Errorf("-only %s: matches nothing that is measured", o.Only)
	}
	if err := turns.Compile(ctx, commands()); err != nil {
		return report.NotDone, err
	}
	if len(verbs) > 0 {
		if err := machines.start(); err != nil {
			return report.NotDone, err
		}
		defer func() { err = errors.Join(err, machines.stop()) }()
	}
	r := report.Run{
		Options: o, Suffix: "-rdma", Contests: append(verbs, tcp...), Maker: maker, Notes: []string{emulated},
		Header: machine.DescribeBuild() + o.Measured("", len(machine.Cores())),
	}
	return r.Measure(ctx, stdout, stderr)
}

const emulated = "ranks on guests are on two machines that QEMU emulates on this one: their figures are good as ratios only"
