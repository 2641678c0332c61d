// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/procs"
)

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
			procs.RemoveGroup(link.plan.GroupName())
			_ = os.RemoveAll(link.plan.PMIxFolder()) // most jobs have none
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
