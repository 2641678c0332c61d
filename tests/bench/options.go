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
	copies, build bool
}

const usage = `usage: scripts/bench [-quick] [-runs N] [-only REGEXP] [-out DIR] [-check] [-copies]
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
	set.BoolVar(&o.build, "build", false, "measure nothing: build what is measured")
	return o, o.Parse(set, args, usage, help)
}

// suite returns what these options measure.
func (o *options) suite() suite {
	if o.copies {
		return copies()
	}
	return mpi(o.Quick)
}

// measured returns the line of the header from which goalsOf knows the goals.
func (o *options) measured() string {
	what := ""
	if o.copies {
		what = measuredCopies
	}
	return o.Measured(what, len(machine.Cores()))
}
