// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
)

// options are the command line's.
type options struct {
	runs                 int
	quick, check, copies bool
	plot, build          bool
	only                 *regexp.Regexp // nil: everything
	out                  string
	files                []string
}

const (
	usualRuns = 10
	quickRuns = 6 // the fewest that give an interval

	// A run leaves no change in a clone that its user did not ask for.
	usualOut = "build/bench/results"
)

const usage = `usage: scripts/bench [-quick] [-runs N] [-only REGEXP] [-out DIR] [-check] [-copies]
       scripts/bench -plot RAW...
       scripts/bench -pack FILE.tar.gz|FILE.tar.zst

Measures thread ranks beside flat and threaded MPI, and makes a folder
<date>-<processor> with raw.txt (for benchstat), summary.md and plots. With -pack
it packs all that it runs for a machine where nothing can be installed.

`

func parse(args []string, help io.Writer) (o options, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&o.quick, "quick", false, fmt.Sprintf("fewer sizes, and %d runs of each side, the fewest that give an interval", quickRuns))
	set.IntVar(&o.runs, "runs", 0, fmt.Sprintf("`number` of runs of each side; %d unless told", usualRuns))
	set.Func("only", "run only what this `regexp` finds: its program, mode or start, such as latency or 'stream.*tpsl'", func(text string) (err error) {
		o.only, err = regexp.Compile(text)
		return err
	})
	set.StringVar(&o.out, "out", usualOut, "make the folder of results in this `folder`; docs/results for such as are kept")
	set.BoolVar(&o.check, "check", false, "exit with 1 if a goal is missed, or not measured")
	set.BoolVar(&o.copies, "copies", false, "measure copies of libraries instead of MPI")
	set.BoolVar(&o.plot, "plot", false, "measure nothing: make summary and plots anew, beside each raw file")
	set.BoolVar(&o.build, "build", false, "measure nothing: build what is measured")
	err = set.Parse(args)
	o.files = set.Args()
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(help, usage)
		set.SetOutput(help)
		set.PrintDefaults()
		return o, err
	case err != nil:
		return o, err
	case o.plot && len(o.files) == 0:
		return o, errors.New("-plot needs the name of a raw file")
	case !o.plot && len(o.files) > 0:
		return o, fmt.Errorf("%q: not an option", o.files[0])
	case o.runs < 0:
		return o, fmt.Errorf("-runs %d: needs at least one", o.runs)
	case o.runs > 0:
	case o.quick:
		o.runs = quickRuns
	default:
		o.runs = usualRuns
	}
	return o, nil
}

// suite returns what these options measure.
func (o options) suite() suite {
	if o.copies {
		return copies()
	}
	return mpi(o.quick)
}
