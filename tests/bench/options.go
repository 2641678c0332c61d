// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

// options are the command line's.
type options struct {
	report.Options
	copies, openMPI, many, collectives, progress, kernels, calls, embedded, python, rtm, multiple, build bool
}

const usage = `usage: scripts/bench [-quick] [-runs N] [-only REGEXP] [-out DIR] [-check] [-copies | -openmpi | -many | -collectives | -progress | -kernels | -calls | -embedded | -python | -rtm | -multiple]
       scripts/bench -plot RAW...
       scripts/bench -pack FILE.tar.gz|FILE.tar.zst

Measures thread ranks beside flat and threaded MPI, and makes a folder
<date>-<processor> with raw.txt (for benchstat), summary.md and plots. With -pack
it packs all that it runs for a machine where nothing can be installed.
-only latency or -only 'stream.*tpsl' choose programs, modes or starts.

`

func parse(args []string, help io.Writer) (o options, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.BoolVar(&o.copies, "copies", false, "measure copies of libraries instead of MPI")
	set.BoolVar(&o.openMPI, "openmpi", false, "measure private ranks of Open MPI's programs instead of MPICH's")
	set.BoolVar(&o.many, "many", false, "measure the start-up of 1 to 512 ranks in one process")
	set.BoolVar(&o.collectives, "collectives", false, "measure collective operations of the ranks of one process by load and store")
	set.BoolVar(&o.progress, "progress", false, "measure what ranks do with a rank that computes")
	set.BoolVar(&o.kernels, "kernels", false, "measure replies of a rank that computes, a sort of keys and a Fourier transform")
	set.BoolVar(&o.calls, "calls", false, "measure what it costs to note and to count calls")
	set.BoolVar(&o.embedded, "embedded", false, "measure a solver on ranks of TPSL_Run")
	set.BoolVar(&o.python, "python", false, "measure private ranks of Python, and arrays that they share")
	set.BoolVar(&o.rtm, "rtm", false, "measure an acoustic wave in five forms, with shared grids and without")
	set.BoolVar(&o.multiple, "multiple", false, "measure latencies of threads that share a rank, and of ranks")
	set.BoolVar(&o.build, "build", false, "measure nothing: build what is measured")
	return o, o.Parse(set, args, usage, help)
}

// suite returns what these options measure.
func (o *options) suite() suite {
	switch {
	case o.copies:
		return copies()
	case o.openMPI:
		return openMPI(mpiPlan(o.Quick))
	case o.many:
		return many(o.Quick)
	case o.collectives:
		return collectives(mpiPlan(o.Quick))
	case o.progress:
		return progress(mpiPlan(o.Quick))
	case o.kernels:
		return kernels(mpiPlan(o.Quick))
	case o.calls:
		return calls(mpiPlan(o.Quick))
	case o.embedded:
		return embedded(mpiPlan(o.Quick))
	case o.python:
		return python(mpiPlan(o.Quick))
	case o.rtm:
		return rtm(mpiPlan(o.Quick))
	case o.multiple:
		return multiple(mpiPlan(o.Quick))
	}
	return mpi(o.Quick)
}

// measured returns the line of the header from which goalsOf knows the goals.
func (o *options) measured() string {
	what := ""
	switch {
	case o.copies:
		what = measuredCopies
	case o.openMPI:
		what = measuredOpenMPI
	case o.many:
		what = measuredMany
	case o.collectives:
		what = measuredCollectives
	case o.progress:
		what = measuredProgress
	case o.kernels:
		what = measuredKernels
	case o.calls:
		what = measuredCalls
	case o.embedded:
		what = measuredEmbedded
	case o.python:
		what = measuredPython
	case o.rtm:
		what = measuredRTM
	case o.multiple:
		what = measuredMultiple
	}
	return o.Measured(what, len(machine.Cores()))
}
