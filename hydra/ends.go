// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// An end is how one rank ended.
type end struct {
	exitInfo
	after time.Duration // since the job began
}

// ends has the end of every rank that is known.
type ends map[int]end

// add enters the end of a process for all of its ranks, but for those that were processes of their own.
func (e ends) add(info exitInfo, after time.Duration) {
	for _, rank := range info.set.Ranks {
		if _, known := e[rank]; !known {
			e[rank] = end{info, after}
		}
	}
}

// text says how a process ended.
func (e exitInfo) text() string {
	status := e.status()
	switch {
	case e.Ended && e.With >= 0:
		return fmt.Sprintf("ended with rank %d", e.With)
	case e.Ended:
		return "ended with the job"
	case status.Signaled():
		return fmt.Sprintf("signal %s (%d)%s", unix.SignalName(status.Signal()), status.Signal(), coreText(e))
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}

// exitCodes tells how every rank ended, a line for those of a host that ended alike.
func (j *Job) exitCodes() (lines []string) {
	for _, w := range j.worlds {
		for _, link := range w.links {
			lines = append(lines, w.exitCodes(link.plan)...)
		}
	}
	return lines
}

func (w *world) exitCodes(host HostPlan) (lines []string) {
	alike := map[string][]int{}
	var order []string
	for _, rank := range host.LocalRanks() {
		text := "no exit code"
		if end, known := w.ends[rank]; known {
			text = end.text()
		}
		if alike[text] == nil {
			order = append(order, text)
		}
		alike[text] = append(alike[text], rank)
	}
	for _, text := range order {
		lines = append(lines, fmt.Sprintf("mpiexec: %s%s on %s: %s", rankNames(alike[text]), ofGroup(w.index), host.Host, text))
	}
	return lines
}
