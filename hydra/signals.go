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
)

func (j *Job) handleSignal(sig unix.Signal) {
	if sig == unix.SIGINT && len(plan.Debugged(j.plan.Hosts[0].Tools)) == 0 { // a debugger makes its own use of it
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

// broadcast is how long a scheduler may take to signal all processes of a job.
const broadcast = time.Second

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
