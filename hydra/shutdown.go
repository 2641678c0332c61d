// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/launch"
	"github.com/tpsl/tpsl/hydra/procs"
)

const (
	// endLimit is how long proxies may take to end the job after mpiexec has ordered the end.
	endLimit = 10 * time.Second
	// forcedLimit is the same when the user does not want to wait, not even until the output is read.
	forcedLimit = 3 * time.Second
	// termGrace is how long ranks may take to end after the SIGTERM that a time-out sends them.
	termGrace = 2 * time.Second
	// termLimit is how long ranks may take to end after a second SIGTERM from the user, or a SIGHUP.
	termLimit = 10 * time.Second
	// sweepLimit is how long mpiexec waits for the end of proxies that outlived their relay, and then for that of killed processes.
	sweepLimit = 3 * time.Second
)

// checkStdout reports an error of the last write to stdout.
func (j *Job) checkStdout() {
	select {
	case err := <-j.stdout.broken:
		j.outcome.unwritten(err)
	default:
	}
}

// flush waits until all output is written.
func (j *Job) flush(done chan<- struct{}) {
	j.stdout.flush()
	j.stderr.flush()
	close(done)
}

// stalled reports whether only the reader of our output delays the end. The reader may take any time, unless the user forces the
// job to end.
func (j *Job) stalled() bool { return !j.forced && (j.stdout.pending() || j.stderr.pending()) }

// force ends the job without waiting for a slow reader of its output.
func (j *Job) force() {
	if j.forced {
		return // another order does not extend the time
	}
	j.grace = nil
	j.end()
	j.forced = true
	j.expired = time.After(forcedLimit)
}

// end orders the end of all ranks.
func (j *Job) end() {
	if j.ending || j.grace != nil {
		return
	}
	j.ending = true
	j.expired = time.After(endLimit)
	for _, link := range j.proxies {
		link.conn.Send(channel.Kill, 0, nil)
	}
	j.children.Abandon()
}

// finish closes the channels, waits for the proxies, and ends the processes that killed proxies and relays have left behind.
func (j *Job) finish() {
	for _, w := range j.worlds {
		w.gather.Close()
	}
	j.stop()
	collected := procs.Makers{}
	reap := func() bool { return procs.Reap(func(pid int, _ unix.WaitStatus) { collected.Ended(pid) }) }
	if !procs.SweepSparing(reap, sweepLimit, launch.IsProxy) {
		j.outcome.note("some processes of the job could not be killed")
	}
	if j.lostProxy {
		var keys []string
		for _, link := range j.proxies {
			keys = append(keys, link.host.Key())
		}
		procs.RemoveLeft(keys, j.began, collected)
	}
}

// stop ends the proxies. It receives their last events meanwhile, because a proxy that cannot send its events does not end.
func (j *Job) stop() {
	stopped := make(chan struct{})
	go func() { j.children.Stop(); close(stopped) }()
	for over := false; !over || len(j.events) > 0; {
		select {
		case e := <-j.events:
			j.handle(e)
		case <-stopped:
			stopped, over = nil, true
		}
	}
}

// conclude completes the outcome with what is known only when everything has ended, and tells it.
func (j *Job) conclude() {
	j.outcome.Lines = slices.Concat(j.failureLines(), j.outcome.Lines, j.stderr.repeats.lines(), j.lastSeen, j.warnings.lines(), j.explanations.lines())
	if j.plan.Exit.PrintAll {
		j.outcome.Lines = append(j.outcome.Lines, j.exitCodes()...)
	}
	j.writeProfile()
	j.writeReport()
	if j.plan.Exit.Silent {
		j.outcome.Lines = nil
	}
	j.tellOutcome()
}

// tellOutcome writes the lines of the outcome, and waits until they are written, for a limited time if the user forces the end.
func (j *Job) tellOutcome() {
	for _, line := range j.outcome.Lines {
		j.stderr.line(line)
	}
	told := make(chan struct{})
	go func() { j.stderr.flush(); close(told) }()
	var late <-chan time.Time
	if j.forced {
		late = time.After(forcedLimit)
	}
	for {
		select {
		case <-told:
			return
		case <-late:
			return
		case sig := <-j.signals:
			if j.forces(sig.(unix.Signal)) && late == nil {
				late = time.After(forcedLimit)
			}
		}
	}
}
