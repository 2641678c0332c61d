// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"
	"os/signal"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
)

// forwarded lists the signals that are the job's business, not mpiexec's.
var forwarded = []os.Signal{
	unix.SIGTERM, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGHUP, unix.SIGTSTP, unix.SIGCONT, unix.SIGWINCH,
}

// CatchSignals catches SIGINT and what else is passed on to ranks, unless our parent had it ignored (nohup). SIGPIPE is
// caught so that a write to a closed stdout is an error and ranks still start with the default action.
func CatchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 64)
	for _, sig := range append([]os.Signal{unix.SIGINT}, forwarded...) {
		if !signal.Ignored(sig) {
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
