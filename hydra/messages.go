// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// keepTail keeps the last lines on stderr of a host's first failure if it is the first one of the job.
func (j *Job) keepTail(e event) {
	var tail channel.Tail
	if err := e.frame.Value(&tail); err != nil {
		j.garbled(e.link, err)
		return
	}
	if len(tail.Text) == 0 || len(j.failures) == 0 {
		return
	}
	first := j.failures[0]
	if first.group == e.link.host.Group && slices.Equal(tail.Ranks, first.set.Ranks) {
		j.lastLines = strings.Split(strings.TrimSuffix(string(tail.Text), "\n"), "\n")
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

// exitCodes returns how every rank ended: one line for the ranks of a host that ended alike.
func (j *Job) exitCodes() (lines []string) {
	for _, w := range j.worlds {
		for _, link := range w.links {
			lines = append(lines, w.exitCodes(link.host)...)
		}
	}
	return lines
}

func (w *world) exitCodes(host plan.Host) (lines []string) {
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
		lines = append(lines, fmt.Sprintf("mpiexec: %s%s on %s: %s", plan.RankNames(alike[text]), ofGroup(w.index), host.Name, text))
	}
	return lines
}
