// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/machine"
)

// options are the command line's.
type options struct {
	plan
	turns             int
	check, list, plot bool
	only              *regexp.Regexp // nil: everything
	out, measure      string
	files             []string
}

const (
	usualTurns   = 10
	quickTurns   = 3
	usualOut     = "build/bench/results" // a run leaves no change in a clone
	usualThreads = "1,2,4,8,16"
)

const usage = `usage: scripts/bench-engine [-quick] [-turns N] [-threads LIST] [-run REGEXP] [-out DIR] [-check]
       scripts/bench-engine -list
       scripts/bench-engine -plot RAW...

Measures the message engine beside flat MPICH and what the machine allows, and makes a folder
<date>-<processor>-engine with raw.txt (for benchstat), summary.md and plots.

`

func parse(args []string, help io.Writer) (o options, err error) {
	var threads string
	set := flag.NewFlagSet("bench-engine", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&o.quick, "quick", false, fmt.Sprintf("fewer sizes, and %d turns; six are the fewest that give an interval", quickTurns))
	set.IntVar(&o.turns, "turns", 0, fmt.Sprintf("`number` of turns of each side; %d unless told", usualTurns))
	set.StringVar(&threads, "threads", usualThreads, "`list` of how many threads there are")
	set.Func("run", "run only the benchmarks, or their sides, whose name this `regexp` finds, such as Latency or 'Share.*lockq'", func(text string) (err error) {
		o.only, err = regexp.Compile(text)
		return err
	})
	set.StringVar(&o.out, "out", usualOut, "make the folder of results in this `folder`; docs/results for such as are kept")
	set.BoolVar(&o.check, "check", false, "exit with 1 if a goal is missed, or not measured")
	set.BoolVar(&o.list, "list", false, "measure nothing: list what can be")
	set.BoolVar(&o.plot, "plot", false, "measure nothing: make summary and plots anew, beside each raw file")
	set.StringVar(&o.measure, "measure", "", "measure only the `side` of this name, and print its figures")
	err = set.Parse(args)
	o.files, o.cores = set.Args(), machine.Cores()
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
	case o.turns < 0:
		return o, fmt.Errorf("-turns %d: needs at least one", o.turns)
	case o.turns > 0:
	case o.quick:
		o.turns = quickTurns
	default:
		o.turns = usualTurns
	}
	o.figure = usualFigure
	if o.quick {
		o.figure = quickFigure
	}
	o.threads, err = numbers(threads)
	return o, err
}

// numbers reads a comma list of how many threads there are.
func numbers(text string) (all []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-threads %s: needs a list of numbers, such as 1,2,4", text)
		}
		all = append(all, n)
	}
	return all, nil
}

// again returns this command with the options that a side needs.
func (o options) again() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []string{self, "-threads", join(o.threads)}
	if o.quick {
		command = append(command, "-quick")
	}
	return command, nil
}

// join writes a comma list.
func join(numbers []int) string {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
