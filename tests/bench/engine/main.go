// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func main() { report.Main("bench-engine", run) }

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error) {
	o, err := parse(args, stdout)
	switch {
	case err != nil:
		return report.NotDone, err
	case o.measure != "":
		signal.Reset(unix.SIGINT, unix.SIGTERM) // nobody looks at ctx meanwhile: they end the process
		if err := o.measureSide(stdout); err != nil {
			return report.NotDone, err
		}
		return 0, nil
	case o.list:
		list(stdout)
		return 0, nil
	case o.Plot:
		return maker.Anew(o.Files, stdout)
	}
	return o.bench(ctx, stdout, stderr)
}

// list names the sub-benchmarks.
func list(w io.Writer) {
	for _, b := range inOrder() {
		fmt.Fprintf(w, "%-12s %s\n", b.name, b.about)
	}
}

var maker = report.Maker{Again: "scripts/bench-engine -plot", Goals: goals}

// bench builds, measures and writes the results.
func (o *options) bench(ctx context.Context, stdout, stderr io.Writer) (code int, err error) {
	r := report.Run{Options: o.Options, Suffix: "-engine", Maker: maker}
	command, err := o.again()
	if err != nil {
		return report.NotDone, err
	}
	var commands [][]string
	for _, b := range inOrder() {
		contests := b.contestsOf(o.plan, command)
		if o.Only != nil && !o.Only.MatchString(b.name) {
			contests = turns.Only(contests, o.Only)
		}
		if len(contests) == 0 {
			continue
		}
		if o.against != "" {
			contests = withOther(contests, o.against, command)
		}
		r.Contests, commands = append(r.Contests, contests...), append(commands, b.commands...)
		if note := b.hidden(o.plan); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
	if len(r.Contests) == 0 {
		return report.NotDone, fmt.Errorf("-only %s: matches nothing that is measured; -list names what is", o.Only)
	}
	if err := turns.Compile(ctx, commands); err != nil {
		return report.NotDone, err
	}
	r.Header = machine.DescribeBuild() + o.Measured("", len(o.cores))
	return r.Measure(ctx, stdout, stderr)
}
