// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/tests/bench/machine"
	"github.com/tpsl/tpsl/tests/bench/plots"
	"github.com/tpsl/tpsl/tests/bench/results"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

// Exit codes, beside 0.
const (
	NotReached  = 1
	NotDone     = 2
	Interrupted = 130 // as a shell's for SIGINT
)

// A Run is one measurement.
type Run struct {
	Options
	Suffix   string // of the name of its folder
	Header   string // lines about what was built and what is measured
	Contests []turns.Contest
	Notes    []string
	Maker
}

// Measure measures, writes the results and returns the exit code.
func (r Run) Measure(ctx context.Context, stdout, stderr io.Writer) (code int, err error) {
	raw, err := r.newRaw()
	if err != nil {
		return NotDone, err
	}
	defer raw.Close()
	p := turns.NewProgress(stderr, terminal.Is(2))
	m := turns.New(raw, p, r.Contests, r.Runs)
	for _, note := range r.Notes {
		m.Note("%s", note)
	}
	broken := measureAndLook(ctx, m)
	p.Finish()
	open, err := r.Write(raw.Name(), stdout)
	switch {
	case ctx.Err() != nil:
		return Interrupted, errors.Join(errors.New("interrupted; the results are partial"), err)
	case broken != nil:
		return NotDone, broken
	case m.Failed() > 0:
		return NotDone, fmt.Errorf("%d commands failed; the summary's notes name them", m.Failed())
	case err != nil:
		return NotDone, err
	case r.Check && open > 0:
		return NotReached, fmt.Errorf("%d goals not reached", open)
	}
	return 0, nil
}

// measureAndLook measures, and notes how busy the machine was otherwise.
func measureAndLook(ctx context.Context, m *turns.Session) error {
	before, err := machine.ReadLoad()
	if err != nil {
		return err
	}
	broken := m.Measure(ctx)
	after, err := machine.ReadLoad()
	if err != nil {
		return errors.Join(broken, err)
	}
	m.Note("%s", after.Since(before))
	return broken
}

// newRaw makes a folder of results, and in it a raw file with its header.
func (r Run) newRaw() (*os.File, error) {
	day := time.Now()
	folder, err := newFolder(r.Out, day, machine.Processor(), runtime.NumCPU(), r.Suffix)
	if err != nil {
		return nil, err
	}
	raw, err := os.Create(filepath.Join(folder, "raw.txt"))
	if err != nil {
		return nil, err
	}
	machine.Describe(raw, day)
	_, err = fmt.Fprintf(raw, "%s\n\n", r.Header)
	return raw, err
}

// A Maker makes what is made of a raw file.
type Maker struct {
	Again string // the command that does it anew
	Goals func(found *results.Set) []Goal
}

// Write makes summary and plots of a raw file, beside it, and returns how many goals were not reached.
func (m Maker) Write(raw string, stdout io.Writer) (open int, err error) {
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
	if _, err := plots.Ratios(folder, found, caption(found)); err != nil {
		return 0, err
	}
	goals := m.Goals(found)
	if err := os.WriteFile(filepath.Join(folder, "summary.md"), []byte(m.summarise(found, goals, drawn)), 0o666); err != nil {
		return 0, err
	}
	open = table(stdout, found, goals)
	fmt.Fprintf(stdout, "\n%s: raw.txt, summary.md and %d plots\n", folder, len(drawn))
	return open, nil
}

// Anew makes summary and plots of raw files, beside each, and returns an exit code.
func (m Maker) Anew(raws []string, stdout io.Writer) (code int, err error) {
	for _, raw := range raws {
		if _, err := m.Write(raw, stdout); err != nil {
			return NotDone, err
		}
	}
	return 0, nil
}
