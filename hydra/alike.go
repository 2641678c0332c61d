// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tpsl/tpsl/hydra/hosts"
	"github.com/tpsl/tpsl/hydra/plan"
)

// A complaint is one thing that ranks or hosts say alike.
type complaint struct {
	text  string
	group int   // number of the world of the ranks
	ranks []int // that say so; none if hosts as a whole do
	hosts []string
}

// complaints are kept by their text, because the same thing is often wrong with many ranks and on many hosts. They are told in
// one line each, in the order in which they came first.
type complaints []complaint

// add enters what ranks of a host say. No ranks stand for the host as a whole.
func (all *complaints) add(text, host string, group int, ranks ...int) {
	i := slices.IndexFunc(*all, func(c complaint) bool {
		return c.text == text && c.group == group && (c.ranks == nil) == (ranks == nil)
	})
	if i < 0 {
		i = len(*all)
		*all = append(*all, complaint{text: text, group: group})
	}
	c := &(*all)[i]
	c.ranks = append(c.ranks, ranks...)
	if !slices.Contains(c.hosts, host) {
		c.hosts = append(c.hosts, host)
	}
}

// who names those who complain.
func (c complaint) who() string {
	switch names := hosts.FormatList(c.hosts); {
	case c.ranks != nil:
		return fmt.Sprintf("%s%s on %s", plan.RankNames(slices.Compact(slices.Sorted(slices.Values(c.ranks)))), ofGroup(c.group), names)
	case len(c.hosts) > 1:
		return "hosts " + names
	default:
		return "host " + names
	}
}

// line tells the complaint.
func (c complaint) line() string { return fmt.Sprintf("mpiexec: %s: %s", c.who(), c.text) }

// lines returns a line for each text.
func (all complaints) lines() (lines []string) {
	for _, c := range all {
		lines = append(lines, c.line())
	}
	return lines
}

// gatherTime is how long a warning waits for others that say the same.
const gatherTime = 200 * time.Millisecond

// warned takes a warning. It is told soon, together with those of other ranks or hosts that say the same. Where there is only
// one host, its own warnings are told at once, in front of the output of its ranks.
func (j *Job) warned(e event) {
	host := e.link.host
	var ranks []int
	if rank := e.frame.Index - 1; rank >= 0 {
		ranks = []int{rank}
	}
	j.warnings.add(string(e.frame.Body), host.Name, host.Group, ranks...)
	if ranks == nil && len(j.proxies) == 1 {
		j.tellWarnings()
		return
	}
	if j.gathered == nil {
		j.gathered = time.After(gatherTime)
	}
}

// tellWarnings tells what has been gathered.
func (j *Job) tellWarnings() {
	for _, line := range j.warnings.lines() {
		j.stderr.line(line)
	}
	j.warnings, j.gathered = nil, nil
}

// alsoFailed tells of failures beside the one that is reported first: one line for processes that failed alike.
func alsoFailed(failures []exitInfo) (lines []string) {
	var all complaints
	for _, info := range failures {
		all.add(info.program+": "+info.cause(), info.host, info.group, info.set.Ranks...)
	}
	const most = 8 // each core has a file of its own
	for _, c := range all[:min(most, len(all))] {
		lines = append(lines, fmt.Sprintf("mpiexec: also failed: %s: %s", c.who(), c.text))
	}
	if len(all) > most {
		lines = append(lines, fmt.Sprintf("mpiexec: also failed, for %d more reasons: other ranks; -report FILE lists all", len(all)-most))
	}
	return lines
}

// repeats drops lines of our own libraries that the process of another rank has written before: what is wrong with one process of
// a job is often wrong with all. Such a line begins with "tpsl: "; the lines below it, which are indented, are kept.
type repeats struct {
	mu    sync.Mutex
	first map[string]source // who wrote a line first
	again []repeat
}

// A repeat is a line that was dropped.
type repeat struct {
	source
	line string
}

// mostRepeats bounds the lines that are remembered.
const mostRepeats = 64

// ours begins the lines of our own libraries.
var ours = []byte("tpsl: ")

// drop returns a text, which begins at the start of a line, without the lines that others have written before.
func (r *repeats) drop(from source, text []byte) []byte {
	if !bytes.Contains(text, ours) {
		return text
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var kept []byte
	for line := range bytes.Lines(text) {
		if !r.isRepeat(from, line) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// isRepeat notes a line of our libraries. Preconditions: r.mu is held.
func (r *repeats) isRepeat(from source, line []byte) bool {
	rest, isOurs := bytes.CutPrefix(line, ours)
	if !isOurs || len(rest) == 0 || rest[0] == ' ' || line[len(line)-1] != '\n' {
		return false
	}
	text := string(line[:len(line)-1])
	switch first, known := r.first[text]; {
	case known && first != from:
		r.again = append(r.again, repeat{from, text})
		return true
	case !known && len(r.first) < mostRepeats:
		r.first[text] = from
	}
	return false
}

// lines says who wrote the lines that several processes wrote.
func (r *repeats) lines() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all complaints
	for _, again := range r.again {
		for _, from := range []source{r.first[again.line], again.source} {
			all.add(again.line, from.link.host.Name, from.link.host.Group, from.ranks()...)
		}
	}
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("mpiexec: %s said: %s", c.who(), c.text))
	}
	return lines
}

// ranks lists the ranks of the process that wrote, as far as its end has told which they are.
func (s source) ranks() []int {
	if end, known := s.link.world.ends[s.rank]; known {
		return end.set.Ranks
	}
	return []int{s.rank}
}
