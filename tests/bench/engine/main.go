// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-engine:", err)
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
	case o.measure != "":
		signal.Reset(unix.SIGINT, unix.SIGTERM) // nobody looks at ctx meanwhile: they end the process
		if err := o.measureSide(stdout); err != nil {
			return report.NotDone, err
		}
		return 0, nil
	case o.list:
		list(stdout)
		return 0, nil
	case o.plot:
		for _, raw := range o.files {
			if _, err := maker.Write(raw, stdout); err != nil {
				return report.NotDone, err
			}
		}
		return 0, nil
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
func (o options) bench(ctx context.Context, stdout, stderr io.Writer) (code int, err error) {
	r := report.Run{Out: o.out, Suffix: "-engine", Turns: o.turns, Check: o.check, Maker: maker}
	command, err := o.again()
	if err != nil {
		return report.NotDone, err
	}
	var commands [][]string
	for _, b := range inOrder() {
		contests := b.contestsOf(o.plan, command)
		if o.only != nil && !o.only.MatchString(b.name) {
			contests = turns.Only(contests, o.only)
		}
		if len(contests) == 0 {
			continue
		}
		r.Contests, commands = append(r.Contests, contests...), append(commands, b.commands...)
		if note := b.hidden(o.plan); note != "" {
			r.Notes = append(r.Notes, note)
		}
	}
	if len(r.Contests) == 0 {
		return report.NotDone, fmt.Errorf("-run %s: matches nothing that is measured; -list names what is", o.only)
	}
	if err := turns.Compile(ctx, commands); err != nil {
		return report.NotDone, err
	}
	r.Header = machine.DescribeBuild() + o.measured()
	return r.Measure(ctx, stdout, stderr)
}

const measuredKey = "measured"

// measured returns the line of the header that tells what was measured.
func (o options) measured() string {
	what := "everything"
	if o.quick {
		what = "quick"
	}
	line := fmt.Sprintf("# %s: %s, %d cores", measuredKey, what, len(o.cores))
	if o.only != nil {
		line += ", only " + o.only.String()
	}
	return line
}

// partly tells whether -run chose what was measured.
func partly(found *results.Set) bool {
	return strings.Contains(found.Setting(measuredKey), ", only ")
}
