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

// banner reports a crash. Scripts search for Hydra's words, so the banner has them all, and adds what Hydra does not say.
func (j *Job) banner(info exitInfo) []string {
	signal := info.status().Signal()
	rule := strings.Repeat("=", 83)
	return slices.Concat([]string{
		"",
		rule,
		"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
		fmt.Sprintf("=   PID %d RUNNING AT %s", info.PID, info.host),
		fmt.Sprintf("=   EXIT CODE: %d", j.outcome.Code),
		"=   " + rankLine(info),
		"=   PROGRAM: " + info.program,
		fmt.Sprintf("=   SIGNAL: %s (%d)%s", unix.SignalName(signal), signal, coreText(info)),
	}, j.details(info), []string{
		"=   CLEANING UP REMAINING PROCESSES",
		"=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES",
		rule,
		fmt.Sprintf("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: %s (signal %d)", signalText(signal), signal),
		"This typically refers to a problem with your application.",
		"Please see the FAQ page for debugging suggestions",
	})
}

// details returns the lines of the banner that not every crash has.
func (j *Job) details(info exitInfo) (lines []string) {
	if info.OutOfMemory {
		lines = append(lines, "=   OUT OF MEMORY: the kernel killed it at the memory limit of its cgroup")
	}
	const most = 8
	later := j.failures[j.crash+1:]
	for _, next := range later[:min(most, len(later))] {
		lines = append(lines, fmt.Sprintf("=   THEN FAILED: %s: %s", next.who(), next.failure()))
	}
	if len(later) > most {
		lines = append(lines, fmt.Sprintf("=   THEN FAILED: %d more", len(later)-most))
	}
	// The last lines are repeated if other output may stand between them and the banner, or if they went to a file.
	apart := j.plan.Size > len(info.set.Ranks) || j.plan.Hosts[0].Stdio.ErrFile != ""
	if j.crash == 0 && apart && len(j.lastLines) > 0 {
		lines = append(lines, "=   ITS LAST LINES ON STDERR:")
		for _, line := range j.lastLines {
			lines = append(lines, "=   | "+line)
		}
	}
	return lines
}

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

func rankLine(info exitInfo) string {
	switch {
	case len(info.set.Ranks) == 1:
		return "RANK: " + info.set.Label() + ofGroup(info.group)
	case info.FaultRank >= 0:
		return fmt.Sprintf("RANKS: %s (one process); the fault was in rank %d", info.set.Label(), info.FaultRank)
	}
	return fmt.Sprintf("RANKS: %s (one process)", info.set.Label())
}

func coreText(info exitInfo) string {
	switch {
	case !info.status().CoreDump():
		return ", no core"
	case info.Core == "":
		return ", core dumped"
	}
	return ", core dumped to " + info.Core
}

// signalText names a signal as strsignal(3) does: Go's names differ in the first letter.
func signalText(signal unix.Signal) string {
	text := signal.String()
	return strings.ToUpper(text[:1]) + text[1:]
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

// explanations are what hosts know about why their ranks have failed. They are kept by their text, because the same thing is
// often wrong on many hosts.
type explanations []explanation

type explanation struct {
	text  string
	hosts []string // that say so
}

func (all *explanations) add(host, text string) {
	i := slices.IndexFunc(*all, func(e explanation) bool { return e.text == text })
	if i < 0 {
		i = len(*all)
		*all = append(*all, explanation{text: text})
	}
	if e := &(*all)[i]; !slices.Contains(e.hosts, host) {
		e.hosts = append(e.hosts, host)
	}
}

// lines returns a line for each text.
func (all explanations) lines() (lines []string) {
	for _, e := range all {
		line := fmt.Sprintf("mpiexec: host %s: %s", e.hosts[0], e.text)
		switch more := len(e.hosts) - 1; {
		case more == 1:
			line += " (and 1 more host)"
		case more > 1:
			line += fmt.Sprintf(" (and %d more hosts)", more)
		}
		lines = append(lines, line)
	}
	return lines
}
