// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tpsl/tpsl/internal/flags"
	"github.com/tpsl/tpsl/internal/pids"
	"github.com/tpsl/tpsl/internal/terminal"
	"github.com/tpsl/tpsl/pagetables"
	"github.com/tpsl/tpsl/pagetables/events"
)

const usage = `usage: tpsl trace [-for TIME] [-every TIME] [-by WHAT] [-json]
                  [-serve ADDRESS -token FILE] PID...

Counts what the kernel does to the ranks of processes, from now until TIME has
passed, they end, or it is interrupted; then prints the counts. The PID of
mpiexec stands for all processes of its job on this host. A terminal shows
meanwhile what happens in a second.

  -for TIME               end after it: 10s, 2m (default: with the processes)
  -every TIME             how often to show and to look for threads (default 1s)
  -by rank|thread|object  a line for each; object: page faults by file
                          (default rank)
  -json                   as one JSON document, with all of it
  -serve ADDRESS          answer Prometheus there: 127.0.0.1:9464, [::1]:0
  -token FILE             what a request has to bear (Prometheus has it as its
                          credentials_file); made if it is missing

A line is for all threads of a rank, with "-" for the threads of a process that
no rank has started. Numbers that are too long are in k, M, G. The columns:

  SYSCALLS      system calls
  FUTEX         of them, those that wait for another thread
  %FUTEX        share of the time in these
  VCSW, IVCSW   context switches: voluntary, since the thread had to wait, and
                involuntary, since another one wanted its CPU
  MIGR          migrations, times that a thread came to another CPU
  %OFF-CPU      share of the time on no CPU
  FAULTS        page faults; COPIES are those that copy a page on write

Counting in the kernel takes CAP_BPF and CAP_PERFMON. Without them, what /proc
tells of one's own processes is counted.
`

// Exit statuses beside 0.
const (
	exitPartial = 1 // something could not be read or counted
	exitUsage   = 255
)

type request struct {
	limit, every   time.Duration
	by             string
	json           bool
	address, token string
	pids           []int
}

// Output is where the command writes.
type Output struct {
	Stdout, Stderr io.Writer
	Terminal       Size // of stdout; nil: it is none
}

// Size tells how many lines and columns a terminal has at the time.
type Size func() (rows, columns int)

// Command runs tpsl trace on the proc filesystem until ctx ends, and returns its exit status.
func Command(ctx context.Context, proc pagetables.Proc, args []string, out Output) int {
	r, err := parse(args)
	switch {
	case errors.Is(err, flags.ErrHelp):
		_, _ = io.WriteString(out.Stdout, usage) // it has per cent signs, which are no directives
		return 0
	case err != nil:
		fmt.Fprintf(out.Stderr, "tpsl trace: %v; try tpsl trace -h\n", err)
		return exitUsage
	}
	errs := run(ctx, proc, r, out)
	for _, err := range errs {
		fmt.Fprintf(out.Stderr, "tpsl trace: %s\n", terminal.Printable(err.Error()))
	}
	if len(errs) > 0 {
		return exitPartial
	}
	return 0
}

func parse(args []string) (r request, err error) {
	set := flags.New("trace")
	set.DurationVar(&r.limit, "for", 0, "")
	set.DurationVar(&r.every, "every", time.Second, "")
	set.StringVar(&r.by, "by", "rank", "")
	set.BoolVar(&r.json, "json", false, "")
	set.StringVar(&r.address, "serve", "", "")
	set.StringVar(&r.token, "token", "", "")
	if r.pids, err = pids.Parse(set, args); err != nil {
		return r, err
	}
	switch {
	case r.limit < 0:
		return r, fmt.Errorf("-for %v: want a time from now", r.limit)
	case r.every < 10*time.Millisecond:
		return r, fmt.Errorf("-every %v: want 10ms or more", r.every)
	case r.by != "rank" && r.by != "thread" && r.by != "object":
		return r, fmt.Errorf("-by %s: want rank, thread or object", r.by)
	case (r.address == "") != (r.token == ""):
		return r, errors.New("-serve and -token go together")
	}
	return r, nil
}

// open begins to count, in the kernel if it may. Only there page faults are counted by object.
func open(proc pagetables.Proc, r request, stderr io.Writer) (events.Source, error) {
	kernel, err := events.Start()
	if err == nil {
		if len(kernel.Absent()) > 0 {
			fmt.Fprintf(stderr, "tpsl trace: this kernel has no tracepoint for %s\n", list(kernel.Absent()))
		}
		return kernel, nil
	}
	if !errors.Is(err, events.ErrDenied) && !errors.Is(err, events.ErrUnsupported) {
		return nil, err
	}
	if r.by == "object" {
		return nil, fmt.Errorf("-by object: %w", err)
	}
	files, failed := events.FromProc(string(proc))
	if failed != nil {
		return nil, failed
	}
	fmt.Fprintf(stderr, "tpsl trace: %v; /proc lacks %s\n", err, list(files.Absent()))
	return files, nil
}

func list(figures []events.Figure) string {
	var words []string
	for _, figure := range figures {
		words = append(words, titles[figure])
	}
	return strings.Join(words, ", ")
}

// report is what -json prints.
type report struct {
	Seconds float64         `json:"seconds"`
	Absent  []events.Figure `json:"absent,omitempty"`
	Ranks   []row           `json:"ranks"`
	Threads []row           `json:"threads"`
	Faults  []faults        `json:"faults,omitempty"`
	Lost    uint64          `json:"lost"`
}

func printJSON(w io.Writer, r report) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
