// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package procs

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Broadcast is how long a launcher or scheduler may take to send one signal to all processes of a job.
const Broadcast = time.Second

// forwarded lists the signals that are meant for the ranks of a job and not for its launcher.
var forwarded = []os.Signal{
	unix.SIGTERM, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGHUP, unix.SIGTSTP, unix.SIGCONT, unix.SIGWINCH,
}

// A Role says which signals stay ignored if this process was started with them ignored.
type Role int

// A launcher catches a signal even if it was ignored, as Hydra does: a shell without job control starts a command with & with
// SIGINT ignored, and the job must end at SIGINT all the same. Only SIGHUP stays ignored (nohup). A process that another
// launcher has started is a rank, and goes on to ignore what it was started to ignore.
const (
	AsLauncher Role = iota
	AsRank
)

func (r Role) keeps(sig os.Signal) bool {
	return (r == AsRank || sig == unix.SIGHUP) && signal.Ignored(sig)
}

// CatchSignals catches SIGINT and the other signals that are passed on to ranks, except those that stay ignored. It also
// catches SIGPIPE. So a write to a closed stdout is an error, and ranks still start with the default action.
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
