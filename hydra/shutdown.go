// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/procs"
)

const (
	// endLimit is how long proxies may take to end the job once that was ordered.
	endLimit = 10 * time.Second
	// forcedLimit is the same when the user does not want to wait, output included.
	forcedLimit = 3 * time.Second
	// termGrace is how long ranks may take to end after the SIGTERM that a time-out sends them.
	termGrace = 2 * time.Second
	// termLimit is how long ranks may take to end after a second SIGTERM from the user.
	termLimit = 10 * time.Second
	// sweepLimit bounds the wait for processes that outlived their proxy.
	sweepLimit = 3 * time.Second
)

// checkStdout tells of a stdout that could not be written when its last line was.
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

// stalled reports whether the end waits for the reader of our output, who may take any time unless the user is in a hurry.
func (j *Job) stalled() bool { return !j.forced && (j.stdout.pending() || j.stderr.pending()) }

// force ends the job without waiting for a slow reader of its output.
func (j *Job) force() {
	if j.forced {
		return // being told again makes it no later
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

// finish closes the channels, waits for the proxies and ends what is left of those that were killed.
func (j *Job) finish() {
	for _, w := range j.worlds {
		w.gather.Close()
	}
	j.stop()
	collected := procs.Makers{}
	reap := func() bool { return procs.Reap(func(pid int, _ unix.WaitStatus) { collected.Ended(pid) }) }
	if !procs.Sweep(reap, sweepLimit) {
		j.outcome.note("some processes of the job could not be killed")
	}
	if j.lostProxy {
		for _, link := range j.proxies {
			procs.RemoveGroup(link.host.CgroupName())
			_ = os.RemoveAll(link.host.PMIxFolder()) // most jobs have none
		}
		procs.RemoveSharedMemory(j.began, collected)
	}
}

// stop ends the proxies and hears what they still say: one that cannot tell it does not end.
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

// conclude tells what is known only now that all has ended.
func (j *Job) conclude() {
	if j.crash >= 0 {
		j.outcome.Lines = append(j.banner(j.failures[j.crash]), j.outcome.Lines...)
	}
	j.outcome.Lines = append(j.outcome.Lines, j.explanations.lines()...)
	if j.plan.Exit.PrintAll {
		j.outcome.Lines = append(j.outcome.Lines, j.exitCodes()...)
	}
	j.writeReport()
	if j.plan.Exit.Silent {
		j.outcome.Lines = nil
	}
}
