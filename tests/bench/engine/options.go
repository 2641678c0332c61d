// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
)

// options are the command line's.
type options struct {
	report.Options
	plan
	list    bool
	measure string
	against string
}

const usualThreads = "1,2,4,8,16"

const usage = `usage: scripts/bench-engine [-quick] [-runs N] [-threads LIST] [-only REGEXP] [-against COMMIT] [-out DIR] [-check]
       scripts/bench-engine -list
       scripts/bench-engine -plot RAW...

Measures the message engine beside flat MPICH and what the machine allows, and makes a folder
<date>-<processor>-engine with raw.txt (for benchstat), summary.md and plots.
-only Latency or -only 'Share.*lockq' choose benchmarks or their sides. -against v1 -only '^(Latency|Rate)'
measures a commit in the same turns, and compares each figure.

`

func parse(args []string, help io.Writer) (o options, err error) {
	var threads string
	set := flag.NewFlagSet("bench-engine", flag.ContinueOnError)
	set.StringVar(&threads, "threads", usualThreads, "`list` of how many threads there are")
	set.BoolVar(&o.list, "list", false, "measure nothing: list what can be")
	set.StringVar(&o.against, "against", "", "measure the same sides of the engine of this `COMMIT`, too")
	set.StringVar(&o.measure, "measure", "", "measure only the `side` of this name, and print its figures")
	if err := o.Parse(set, args, usage, help); err != nil {
		return o, err
	}
	o.cores, o.figure, o.quick = machine.Cores(), usualFigure, o.Quick
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
func (o *options) again() ([]string, error) {
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
