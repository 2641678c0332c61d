// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
)

// ExitLauncher is mpiexec's exit code when it fails itself, or when the job cannot be run.
const ExitLauncher = 255

// exitPipe is mpiexec's exit code when nobody reads its stdout. A shell shows the same code for a program that SIGPIPE ended.
const exitPipe = 128 + int(unix.SIGPIPE)

// An Outcome is how a job ended. The first failure decides the exit code. Without a failure, the user's rule makes the exit code
// from the codes of all processes.
type Outcome struct {
	Code  int
	Lines []string // shown on stderr after all output
	sum   tally
	final bool // the code is decided: later exits do not change it
	doubt *doubt
}

// A doubt is about a decision that ranks made, such as MPI_Abort. They may have made it because they saw another rank die. The
// news of that death takes another way and may arrive later. Then the first failure that we hear of was not the first one.
type doubt struct {
	world *world
	ranks []int    // that made the decision
	lines []string // the lines of the outcome before the decision
}

// count adds the end of a process to the exit code, unless the code is decided.
func (o *Outcome) count(status unix.WaitStatus) {
	if !o.final {
		o.sum.add(status)
		o.Code = o.sum.code
	}
}

// decide sets the exit code for good. It returns false if it was decided before.
func (o *Outcome) decide(code int) bool {
	if o.final {
		return false
	}
	o.Code, o.final = code, true
	return true
}

// doubtful notes which ranks made the decision, and the lines of the outcome before it.
func (o *Outcome) doubtful(w *world, ranks []int, lines []string) { o.doubt = &doubt{w, ranks, lines} }

// reopen takes a decision back if other ranks than those that made it have died of an external cause. That death then explains the
// decision.
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
		o.fail(fmt.Sprintf("write standard output: %v", bare(err)))
	} else if o.decide(exitPipe) {
		o.note("nobody reads standard output any more; ended the job")
	}
}

// A tally makes one exit code from the exit codes of all processes.
type tally struct {
	rule plan.ExitRule
	all  unix.WaitStatus // the statuses of all processes, or-ed; a signal in it hides the exit codes
	code int             // so far
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

// codeOf returns the exit code that a rule makes of one status.
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
