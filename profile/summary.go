// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
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
	sites        []site     // but for starts
	starts       []site     // MPI_Init and MPI_Finalize, which are in no share
	usages       []usage
	delays       []delay
	sizes        []Size
	crowds       []crowd
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
	s.starts = slices.DeleteFunc(slices.Clone(s.sites), func(one site) bool { return !isStartOrEnd(one.function) })
	s.sites = slices.DeleteFunc(s.sites, func(one site) bool { return isStartOrEnd(one.function) })
	s.crowds = p.crowds()
	s.traffic = p.traffic()
	s.total, s.choices = s.traffic.total(), s.traffic.choices()
	within := s.traffic.inside(p.byHost())
	s.betweenHosts = amount{max(0, s.total.count-within.count), max(0, s.total.bytes-within.bytes)}
	s.processes = p.byProcess().n
	return s
}

// mpiShare is the share of the ranks' time that they were in MPI.
func (s *summary) mpiShare() float64 { return share(s.sum.mpi(), s.sum.sum()) }

// started says what MPI_Init and MPI_Finalize took, as they are in no share; "" if they were not counted.
func (s *summary) started() string {
	if len(s.starts) == 0 {
		return ""
	}
	took := map[string]float64{}
	var names []string
	for i := range s.starts {
		one := &s.starts[i]
		if !slices.Contains(names, one.function) {
			names = append(names, one.function)
		}
		took[one.function] += share(one.time, float64(len(s.counted)))
	}
	slices.Sort(names) // MPI_Finalize comes before MPI_Init
	slices.Reverse(names)
	for i, name := range names {
		names[i] = name + " took " + seconds(took[name])
	}
	return strings.Join(names, ", ") + ", on average of the ranks. Shares of time and efficiencies leave that out."
}

// startTime is what MPI_Init and MPI_Finalize took in all ranks.
func (s *summary) startTime() (time float64) {
	for i := range s.starts {
		time += s.starts[i].time
	}
	return time
}

// usedHosts is how many hosts have ranks.
func (s *summary) usedHosts() int { return s.byHost().n }

// insideNow is the share of bytes that stay in their process.
func (s *summary) insideNow() float64 {
	i := slices.IndexFunc(s.choices, func(c choice) bool { return c.now })
	return s.choices[i].inside
}

// A crowd is a host that has more ranks than CPUs on which they may run.
type crowd struct {
	host        string
	ranks, cpus int
}

// crowds lists them, the ones with most ranks for a CPU first. A host stands in the list of hosts once for each group of ranks that it has.
func (p *Profile) crowds() (all []crowd) {
	ranks, cpus := map[string]int{}, map[string]int{}
	for i := range p.Ranks {
		ranks[p.hostOf(i)]++
	}
	for i := range p.Hosts {
		cpus[p.Hosts[i].Name] = max(cpus[p.Hosts[i].Name], p.Hosts[i].CPUs)
	}
	for host, n := range ranks {
		if cpus[host] > 0 && n > cpus[host] {
			all = append(all, crowd{host, n, cpus[host]})
		}
	}
	slices.SortFunc(all, func(a, b crowd) int {
		return cmp.Or(cmp.Compare(b.ranks*a.cpus, a.ranks*b.cpus), cmp.Compare(a.host, b.host))
	})
	return all
}

// crowded says how many ranks share how many CPUs; "" if each may have one of its own, or if that is not known.
func (s *summary) crowded() string {
	if len(s.crowds) == 0 {
		return ""
	}
	worst := s.crowds[0]
	text := fmt.Sprintf("%s share %s on %s", number(worst.ranks, "rank"), number(worst.cpus, "CPU"), worst.host)
	if more := len(s.crowds) - 1; more > 0 {
		text += fmt.Sprintf(" (%s like this)", number(more, "more host"))
	}
	return text
}

// unusual lists what a reader must know before anything else.
func (s *summary) unusual() (lines []string) {
	if s.Job.ExitCode != 0 {
		lines = append(lines, fmt.Sprintf("The job ended with exit code %d.", s.Job.ExitCode))
	}
	if crowded := s.crowded(); crowded != "" {
		lines = append(lines, crowded+": ranks that wait keep CPUs busy, so most time in MPI may be waiting for a CPU.")
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

// cpus lists on how many CPUs of each host ranks may run: 64, 32; once if all have as many, "" if that is not known.
func (s *summary) cpus() string {
	var all []string
	for i := range s.Hosts {
		if s.Hosts[i].CPUs == 0 {
			return ""
		}
		all = append(all, count(float64(s.Hosts[i].CPUs)))
	}
	if len(slices.Compact(slices.Clone(all))) == 1 {
		return all[0]
	}
	return some(all)
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
