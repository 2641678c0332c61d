// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"

	"golang.org/x/sys/unix"
)

// Options are those that every benchmark command has.
type Options struct {
	Runs               int // of each side
	Quick, Check, Plot bool
	Only               *regexp.Regexp // nil: everything
	Out                string
	Files              []string // what Plot is to make anew
}

const (
	usualRuns = 10
	quickRuns = 6 // the fewest that give an interval

	// A run leaves no change in a clone that its user did not ask for.
	usualOut = "build/bench/results"
)

// Parse reads the options of a command from args; set may have some of its own. For -h it prints usage and all options to
// help, and returns flag.ErrHelp.
func (o *Options) Parse(set *flag.FlagSet, args []string, usage string, help io.Writer) error {
	set.SetOutput(io.Discard)
	set.BoolVar(&o.Quick, "quick", false, fmt.Sprintf("fewer sizes, and %d runs of each side, the fewest that give an interval", quickRuns))
	set.IntVar(&o.Runs, "runs", 0, fmt.Sprintf("`number` of runs of each side; %d unless told", usualRuns))
	set.Func("only", "run only what this `regexp` finds in the names of what is measured, or of its sides", func(text string) (err error) {
		o.Only, err = regexp.Compile(text)
		return err
	})
	set.StringVar(&o.Out, "out", usualOut, "make the folder of results in this `folder`; docs/results for such as are kept")
	set.BoolVar(&o.Check, "check", false, "exit with 1 unless every goal is reached")
	set.BoolVar(&o.Plot, "plot", false, "measure nothing: make summary and plots anew, beside each raw file")
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(help, usage)
		set.SetOutput(help)
		set.PrintDefaults()
		return err
	}
	o.Files = set.Args()
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return fmt.Errorf("%w; -h lists the options", err)
	}
	return nil
}

// check looks at what was given, and fills in what was not.
func (o *Options) check() error {
	switch {
	case o.Plot && len(o.Files) == 0:
		return errors.New("-plot needs the name of a raw file")
	case !o.Plot && len(o.Files) > 0:
		return fmt.Errorf("%q: not an option", o.Files[0])
	case o.Runs < 0:
		return fmt.Errorf("-runs %d: needs at least one", o.Runs)
	case o.Runs > 0:
	case o.Quick:
		o.Runs = quickRuns
	default:
		o.Runs = usualRuns
	}
	return nil
}

// Main runs a benchmark command: run does what the arguments say and returns the exit code.
func Main(name string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error)) {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		code = 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
	os.Exit(code)
}
