// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// forwarded lists the signals that are the job's business, not mpiexec's.
var forwarded = []os.Signal{
	unix.SIGTERM, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGHUP, unix.SIGTSTP, unix.SIGCONT, unix.SIGWINCH,
}

// A Role says which signals stay ignored where the parent process had them ignored.
type Role int

// A launcher catches a signal that was ignored, as Hydra does: a shell without job control starts what stands in front of an & with
// SIGINT ignored, and the job must end at it all the same. SIGHUP stays ignored (nohup). What another launcher has started is a rank,
// which ignores what it was given as ignored.
const (
	AsLauncher Role = iota
	AsRank
)

func (r Role) keeps(sig os.Signal) bool {
	return (r == AsRank || sig == unix.SIGHUP) && signal.Ignored(sig)
}

// CatchSignals catches SIGINT and what else is passed on to ranks, unless it stays ignored. SIGPIPE is
// caught so that a write to a closed stdout is an error and ranks still start with the default action.
func CatchSignals(role Role) <-chan os.Signal {
	signals := make(chan os.Signal, 64)
	for _, sig := range append([]os.Signal{unix.SIGINT}, forwarded...) {
		if !role.keeps(sig) {
			signal.Notify(signals, sig)
		}
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	return signals
}

func (j *Job) handleSignal(sig unix.Signal) {
	if sig == unix.SIGINT && len(Debugged(j.plan.Hosts[0].Tools)) == 0 { // a debugger makes its own use of it
		if j.interrupted {
			j.stderr.line("Ctrl-C caught... cleaning up processes")
			j.outcome.decide(ExitLauncher)
			j.force()
			return
		}
		j.interrupted = true
		j.stderr.line("mpiexec: Sending Ctrl-C to processes as requested")
		j.stderr.line("mpiexec: Press Ctrl-C again to force abort")
	}
	if j.ranksOver() && slices.Contains(deadly, sig) {
		j.force() // what is still to end is mpiexec, which may be waiting for a reader
		return
	}
	j.signal(sig)
	if sig == unix.SIGTERM {
		j.terminated()
	}
}

// terminated sets a time to ranks that were asked to end by SIGTERM twice. A scheduler that signals all processes of a job at about
// the same time asks once, however many of these pass the signal on.
func (j *Job) terminated() {
	switch {
	case j.asked.IsZero():
		j.asked = time.Now()
	case time.Since(j.asked) > broadcast && j.overdue == nil:
		j.overdue = time.After(termLimit)
		j.stderr.line(fmt.Sprintf("mpiexec: SIGTERM again: what has not ended in %v is killed", termLimit))
	}
}

// deadly lists the signals that end a process which does nothing about them, but for SIGINT, which is counted.
var deadly = []unix.Signal{unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP}

// ranksOver reports whether all ranks have ended, or will in any case.
func (j *Job) ranksOver() bool { return j.ending || j.open == 0 }

// signal has every proxy signal its ranks.
func (j *Job) signal(sig unix.Signal) {
	for _, link := range j.proxies {
		link.conn.Send(channel.Signal, int(sig), nil)
	}
}
