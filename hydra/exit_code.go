// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
)

// ExitLauncher is the exit code of everything that is not the program's doing.
const ExitLauncher = 255

// exitPipe is the exit code of a program that SIGPIPE ended, as shells show it.
const exitPipe = 128 + int(unix.SIGPIPE)

// An Outcome is how a job ended. The first failure decides the code; otherwise its rule makes one code of all.
type Outcome struct {
	Code  int
	Lines []string // to be shown on stderr after all output
	sum   tally
	final bool // later exits do not change the code
	doubt *doubt
}

// A doubt is about a decision that ranks made: they may have seen another one die, of whose death we hear later, as it takes
// another way. The first failure that we hear of is then not the first.
type doubt struct {
	world *world
	ranks []int    // that made it
	lines []string // what was said before
}

// count adds the end of a process to the code, unless that is decided.
func (o *Outcome) count(status unix.WaitStatus) {
	if !o.final {
		o.sum.add(status)
		o.Code = o.sum.code
	}
}

// decide sets the code that later exits do not change. It reports whether nothing had decided before.
func (o *Outcome) decide(code int) bool {
	if o.final {
		return false
	}
	o.Code, o.final = code, true
	return true
}

// doubtful notes which ranks have made the decision.
func (o *Outcome) doubtful(w *world, ranks []int, lines []string) { o.doubt = &doubt{w, ranks, lines} }

// reopen takes a decision back for a death that explains it: one from outside, of others than those that made it.
func (o *Outcome) reopen(w *world, ranks []int) {
	d := o.doubt
	if d == nil || d.world == w && slices.ContainsFunc(ranks, func(rank int) bool { return slices.Contains(d.ranks, rank) }) {
		return
	}
	o.final, o.doubt, o.Lines = false, nil, d.lines
}

// fail records a failure of the launch itself.
func (o *Outcome) fail(text string) {
	if o.decide(ExitLauncher) {
		o.note(text)
	}
}

func (o *Outcome) note(text string) { o.Lines = append(o.Lines, "mpiexec: "+text) }

// unwritten records an error of writing standard output.
func (o *Outcome) unwritten(err error) {
	if !errors.Is(err, unix.EPIPE) {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // the path is but Go's name of the stream
		}
		o.fail(fmt.Sprintf("write standard output: %v", err))
	} else if o.decide(exitPipe) {
		o.note("nobody reads standard output any more; ended the job")
	}
}

// A tally is the exit code so far.
type tally struct {
	rule plan.ExitRule
	all  unix.WaitStatus // of every process, or-ed: a signal then hides codes
	code int
}

func (t *tally) add(status unix.WaitStatus) {
	t.all |= status
	switch {
	case t.rule == plan.ExitMax:
		t.code = max(t.code, codeOf(t.rule, status))
	case t.rule != plan.ExitFirst:
		t.code = codeOf(t.rule, t.all)
	case t.code == 0:
		t.code = codeOf(t.rule, status)
	}
}

// codeOf returns what one process counts under a rule.
func codeOf(rule plan.ExitRule, status unix.WaitStatus) int {
	switch {
	case !status.Signaled():
		return status.ExitStatus()
	case rule != plan.ExitOr && rule != "":
		return 128 + int(status.Signal())
	case status.CoreDump():
		return 0x80 | int(status.Signal()) // as in the wait status
	}
	return int(status.Signal())
}
