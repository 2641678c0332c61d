// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpsl/tpsl/hydra/whereabouts"
	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/internal/pids"
	"github.com/tpsl/tpsl/internal/terminal"
)

const usage = `usage: tpsl top [-every TIME] [-by WHAT] [-once] [PID]

Shows what the ranks of a running job do and use, live, until q or Ctrl-C. The
job is that of the process, as with tpsl where. What is told of MPI calls needs
mpiexec -state. Where the output is no terminal, tables follow one another.

  -every TIME            how often to look: 100ms to 30s (default 1s)
  -by rank|process|host  a line for each (default rank)
  -once                  print one table, and end

Rates are of the last five seconds. The columns, each with the key that sorts by
it, and the other way round when it is pressed again:

    r RANK     ranks, with their group in front if they were spawned
    h HOST
    p PID
    m %MPI     share of the time in MPI calls that can wait, by sampling
    c %CPU     of one processor
    y MEMORY   resident memory of the process; /8: of eight ranks together
    v VCSW     voluntary context switches per second
    i IVCSW    involuntary ones, since others wanted the CPU
    f FAULTS   page faults per second
    w FOR      ranks for which it waits, as far as its call tells
    t SINCE    for how long at least it has been in its state
    s STATE    the MPI call that it is in

Other keys: space pauses; / takes ranks (0-3,8) or a part of a host's name or of
a state, and Esc ends that; g shows ranks, processes or hosts; arrows, PgUp and
PgDn, Home and End move.
`

// Exit statuses beside 0.
const exitUsage = 255

// Limits of -every. mpiexec ends the connection of who asks nothing for a minute.
const (
	shortest = 100 * time.Millisecond
	longest  = 30 * time.Second
)

// A Source is a job that can be asked what its ranks do.
type Source interface {
	// Look returns whereabouts.ErrEnded if the job has ended, or does not want to be asked.
	Look() (whereabouts.Job, error)
	Close()
}

// Output is where the command writes.
type Output struct {
	Stdout, Stderr io.Writer
	Terminal       bool // stdout is one
}

type request struct {
	every time.Duration
	by    grouping
	once  bool
	pids  []int
}

// Command runs tpsl top until ctx ends, and returns its exit status. connect finds the job of some process ids; of none, if there is only one job.
func Command(ctx context.Context, args []string, connect func(pids []int) (Source, error), out Output) int {
	r, err := parse(args)
	if errors.Is(err, flags.ErrHelp) {
		_, _ = io.WriteString(out.Stdout, usage) // it has per cent signs, which are no directives
		return 0
	}
	if err == nil {
		err = run(ctx, r, connect, out)
	}
	if err != nil {
		fmt.Fprintf(out.Stderr, "tpsl top: %s\n", terminal.Printable(err.Error()))
		return exitUsage
	}
	return 0
}

func parse(args []string) (r request, err error) {
	set := flags.New("top")
	set.DurationVar(&r.every, "every", time.Second, "")
	set.BoolVar(&r.once, "once", false, "")
	by := set.String("by", groupingNames[byRank], "")
	if r.pids, err = pids.Parse(set, args); err != nil && !errors.Is(err, pids.ErrNone) {
		return r, err
	}
	if r.every < shortest || r.every > longest {
		return r, fmt.Errorf("-every %v: want %v to %v", r.every, shortest, longest)
	}
	for r.by = 0; r.by < groupings; r.by++ {
		if groupingNames[r.by] == *by {
			return r, nil
		}
	}
	return r, fmt.Errorf("-by %s: want rank, process or host", *by)
}

// run shows the job to its end, or until ctx ends.
func run(ctx context.Context, r request, connect func([]int) (Source, error), out Output) error {
	source, err := connect(r.pids)
	if err != nil {
		return err
	}
	defer source.Close()
	s := &session{source: source}
	if err := s.look(); err != nil {
		return err
	}
	if out.Terminal && !r.once && canDraw() {
		err = show(ctx, s, r)
	} else {
		err = printTables(ctx, s, r, out.Stdout)
	}
	if errors.Is(err, whereabouts.ErrEnded) {
		_, err = fmt.Fprintf(out.Stdout, "the job of mpiexec (PID %d) has ended\n", s.pid)
	}
	return err
}

// canDraw reports whether there is a keyboard, and a terminal that can move its cursor.
func canDraw() bool {
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return false
	}
	if terminal.Is(0) {
		return true
	}
	keyboard, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	keyboard.Close()
	return true
}

// show shows the job in the terminal. The terminal is as before when it returns, however it ends.
func show(ctx context.Context, s *session, r request) error {
	v := newView(s, r.every, r.by)
	program := tea.NewProgram(v, tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)()
	if _, err := program.Run(); err != nil {
		return fmt.Errorf("show in the terminal: %w", err)
	}
	return v.err
}

// printTables prints a table again and again, or once.
func printTables(ctx context.Context, s *session, r request, w io.Writer) error {
	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.every):
		}
		if err := s.look(); err != nil {
			return err
		}
		if !first {
			fmt.Fprintln(w)
		}
		t := newTable(r.by)
		t.job, t.rates = s.latest()
		if _, err := io.WriteString(w, t.text()); err != nil || r.once {
			return err
		}
	}
}

// A session is a job and what it has told. It is for one goroutine at a time.
type session struct {
	source  Source
	pid     int // of mpiexec
	history history
}

// look asks the job. A later job that has the number of its process is not the job.
func (s *session) look() error {
	job, err := s.source.Look()
	if err != nil {
		return err
	}
	if s.pid != 0 && !job.Began.Equal(s.history.newest().Began) {
		return whereabouts.ErrEnded
	}
	s.pid = job.PID
	s.history.add(job)
	return nil
}

// latest returns what was told last, and rates.
func (s *session) latest() (whereabouts.Job, map[key]rate) {
	return s.history.newest(), s.history.rates()
}
