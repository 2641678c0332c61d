// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/hydra/procs"
)

func (j *Job) handleSignal(sig unix.Signal) {
	if sig == unix.SIGINT && len(plan.Debugged(j.plan.Hosts[0].Tools)) == 0 { // a debugger uses it itself
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
		j.force() // only mpiexec has not ended yet; it may be waiting for the reader of its output
		return
	}
	if sig == unix.SIGQUIT && j.plan.State.Notes() {
		j.tellState()
		return
	}
	j.signal(sig)
	switch sig {
	case unix.SIGTERM:
		j.terminated()
	case unix.SIGHUP: // UCX takes it for a signal to debug, and ranks with UCX do not end by it
		j.limit("SIGHUP", "SIGHUP")
	}
}

// terminated limits the time of ranks at a second SIGTERM. Signals within a short time count as one, because a
// scheduler signals all processes of a job, and several of them pass the signal on.
func (j *Job) terminated() {
	switch {
	case j.asked.IsZero():
		j.asked = time.Now()
	case time.Since(j.asked) > procs.Broadcast:
		j.limit("SIGTERM again", "a second SIGTERM")
	}
}

// limit limits how long ranks may take to end after a request, unless their time is limited already.
func (j *Job) limit(said, request string) {
	if j.overdue == nil {
		j.overdue, j.request = time.After(termLimit), request
		j.stderr.line(fmt.Sprintf("mpiexec: %s: what has not ended in %v is killed", said, termLimit))
	}
}

// deadly lists the signals that end a process by default. SIGINT is not among them because mpiexec counts it.
var deadly = []unix.Signal{unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP}

// ranksOver reports whether all ranks have ended, or have the order to end.
func (j *Job) ranksOver() bool { return j.ending || j.open == 0 }

// forces reports whether a signal that comes when the job has ended tells mpiexec not to wait: one that is deadly, or a second SIGINT.
func (j *Job) forces(sig unix.Signal) bool {
	again := j.interrupted
	j.interrupted = again || sig == unix.SIGINT
	return slices.Contains(deadly, sig) || sig == unix.SIGINT && again
}

// signal has every proxy signal its ranks.
func (j *Job) signal(sig unix.Signal) {
	for _, link := range j.proxies {
		link.conn.Send(channel.Signal, int(sig), nil)
	}
}
