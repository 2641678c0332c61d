// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"slices"
	"strings"
)

// A summary is what text, comparison and page have in common. All of it is made once.
type summary struct {
	*Profile
	efficiencies Efficiencies
	counted      []int      // indices of the ranks that were counted
	parts        []division // of each rank
	sum          division   // over ranks
	sites        []site
	usages       []usage
	delays       []delay
	sizes        []Size
	traffic      *traffic
	total        amount // of traffic
	choices      []choice
	betweenHosts amount
	processes    int
}

func (p *Profile) summarize() *summary {
	s := &summary{Profile: p, efficiencies: p.Efficiencies(), parts: make([]division, len(p.Ranks))}
	waits := waits(p.operations())
	for i := range p.Ranks {
		if p.Ranks[i].Counted {
			s.counted = append(s.counted, i)
			s.parts[i] = p.Ranks[i].parts(waits)
			s.sum.add(s.parts[i])
		}
	}
	s.sites, s.usages, s.delays, s.sizes = p.sites(waits), p.usages(waits), p.delays(), p.sizes()
	s.traffic = p.traffic()
	s.total, s.choices = s.traffic.total(), s.traffic.choices()
	within := s.traffic.inside(p.byHost())
	s.betweenHosts = amount{max(0, s.total.count-within.count), max(0, s.total.bytes-within.bytes)}
	s.processes = p.byProcess().n
	return s
}

// mpiShare is the share of the ranks' time that they were in MPI.
func (s *summary) mpiShare() float64 { return share(s.sum.mpi(), s.sum.sum()) }

// usedHosts is how many hosts have ranks.
func (s *summary) usedHosts() int { return s.byHost().n }

// insideNow is the share of bytes that stay in their process.
func (s *summary) insideNow() float64 {
	i := slices.IndexFunc(s.choices, func(c choice) bool { return c.now })
	return s.choices[i].inside
}

// unusual lists what a reader must know before anything else.
func (s *summary) unusual() (lines []string) {
	if s.Job.ExitCode != 0 {
		lines = append(lines, fmt.Sprintf("The job ended with exit code %d.", s.Job.ExitCode))
	}
	var silent, running []string
	for i := range s.Ranks {
		switch r := &s.Ranks[i]; {
		case !r.Counted:
			silent = append(silent, s.rankName(i))
		case !r.Ended:
			running = append(running, s.rankName(i))
		}
	}
	if len(silent) > 0 {
		lines = append(lines, fmt.Sprintf("Nothing is known of %s, %s: there was no MPI call to count, or no start, or the host was lost.", number(len(silent), "rank"), some(silent)))
	}
	if len(running) > 0 {
		lines = append(lines, fmt.Sprintf("Not at the end of MPI_Finalize: %s, %s. What is told goes to the last call that is known, and what was being counted then may be missing.", number(len(running), "rank"), some(running)))
	}
	if s.traffic.unknown.bytes > 0 {
		lines = append(lines, fmt.Sprintf("%s went to ranks that did not fit into a table, or of other worlds. They are in no matrix and in no share.", size(s.traffic.unknown.bytes)))
	}
	return lines
}

// some lists names, and only how many more there are behind the twelfth.
func some(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// hostNames lists the hosts.
func (s *summary) hostNames() string {
	var names []string
	for i := range s.Hosts {
		if !slices.Contains(names, s.Hosts[i].Name) {
			names = append(names, s.Hosts[i].Name)
		}
	}
	return some(names)
}

// arrangement says how many ranks are in how many processes on how many hosts.
func (s *summary) arrangement() string {
	return fmt.Sprintf("%s in %s on %s", number(len(s.Ranks), "rank"), number(s.processes, "process"), number(s.usedHosts(), "host"))
}

// layout is what the job says of its layout, unless that is the arrangement.
func (s *summary) layout() string {
	if s.Job.Layout == s.arrangement() {
		return ""
	}
	return s.Job.Layout
}

// clocks says how far the clocks of hosts can be trusted; "" if there is one host.
func (s *summary) clocks() string {
	if s.usedHosts() < 2 {
		return ""
	}
	all := map[int]bool{}
	for i := range s.Hosts {
		all[i] = true
	}
	return fmt.Sprintf("Clocks of hosts were compared by messages. What is told of ranks of two hosts is exact to %s.", seconds(s.clockError(all)))
}
