// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"slices"

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

// alsoFailed tells of failures beside the one that is reported first: one line for processes that failed alike.
func alsoFailed(failures []exitInfo) (lines []string) {
	var all complaints
	for _, info := range failures {
		all.add(info.program+": "+info.cause(), info.host, info.group, info.set.Ranks...)
	}
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("mpiexec: also failed: %s: %s", c.who(), c.text))
	}
	return lines
}
