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
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/tests/bench/plots"
	"github.com/tpsl/tpsl/tests/bench/results"
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

// Exit codes, beside 0.
const (
	goalMissed  = 1
	notDone     = 2
	interrupted = 130 // as a shell's for SIGINT
)

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, err error) {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0, nil
	case err != nil:
		return notDone, fmt.Errorf("%w; -h lists the options", err)
	case o.plot:
		for _, raw := range o.files {
			if _, err := writeSummary(raw, stdout); err != nil {
				return notDone, err
			}
		}
		return 0, nil
	}
	s := o.suite()
	if err := compile(ctx, s.commands); err != nil {
		return notDone, err
	}
	if o.build {
		return 0, nil
	}
	if o.only != nil {
		if s.contests = only(s.contests, o.only); len(s.contests) == 0 {
			return notDone, fmt.Errorf("-only %s: matches nothing that is measured", o.only)
		}
	}
	return o.bench(ctx, s, stdout, stderr)
}

// bench measures, and writes the results.
func (o options) bench(ctx context.Context, s suite, stdout, stderr io.Writer) (code int, err error) {
	raw, err := o.newRaw()
	if err != nil {
		return notDone, err
	}
	defer raw.Close()
	p := &progress{w: stderr, terminal: terminal.Is(2)}
	m := newSession(raw, p, s.contests, o.runs)
	for _, why := range s.leftOut {
		m.note("left out: %s", why)
	}
	broken := m.measureAndLook(ctx)
	p.finish()
	missed, err := writeSummary(raw.Name(), stdout)
	switch {
	case ctx.Err() != nil:
		return interrupted, errors.Join(errors.New("interrupted; the results are partial"), err)
	case broken != nil:
		return notDone, broken
	case m.failed > 0:
		return notDone, fmt.Errorf("%d commands failed; the summary's notes name them", m.failed)
	case err != nil:
		return notDone, err
	case o.check && missed > 0:
		return goalMissed, fmt.Errorf("%d goals missed", missed)
	}
	return 0, nil
}

// newRaw makes a folder of results, and in it a raw file with its header.
func (o options) newRaw() (*os.File, error) {
	day := time.Now()
	folder, err := newFolder(o.out, day, processor(), runtime.NumCPU())
	if err != nil {
		return nil, err
	}
	raw, err := os.Create(filepath.Join(folder, "raw.txt"))
	if err != nil {
		return nil, err
	}
	if err := describeMachine(raw, day); err != nil {
		raw.Close()
		return nil, err
	}
	_, err = fmt.Fprintf(raw, "%s\n\n", o.measured())
	return raw, err
}

// writeSummary makes summary and plots of a raw file, beside it, and returns how many goals were missed.
func writeSummary(raw string, stdout io.Writer) (missed int, err error) {
	f, err := os.Open(raw)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	found, err := results.Read(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", raw, err)
	}
	if len(found.Values) == 0 {
		return 0, fmt.Errorf("%s: holds no benchmark", raw)
	}
	folder := filepath.Dir(raw)
	drawn, err := plots.Draw(folder, found, caption(found))
	if err != nil {
		return 0, err
	}
	goals := goalsOf(found)
	if err := os.WriteFile(filepath.Join(folder, "summary.md"), []byte(summarise(found, goals, drawn)), 0o666); err != nil {
		return 0, err
	}
	missed = report(stdout, found, goals)
	fmt.Fprintf(stdout, "\n%s: raw.txt, summary.md and %d plots\n", folder, len(drawn))
	return missed, nil
}
