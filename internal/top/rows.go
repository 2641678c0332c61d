// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tpsl/tpsl/hydra/whereabouts"
	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/internal/terminal"
)

// A grouping says what a row is for.
type grouping int

const (
	byRank grouping = iota
	byProcess
	byHost
	groupings // how many there are
)

var groupingNames = map[grouping]string{byRank: "rank", byProcess: "process", byHost: "host"}

// A row is a rank, or several that are shown together.
type row struct {
	group    int // of ranks that started together
	ranks    []int
	host     string
	pids     []int
	together int    // ranks that share the memory with the only rank of the row
	resident uint64 // bytes; 0: not known
	inMPI    int    // ranks in a call
	ended    int
	rate     rate // of mpi the mean, of the others the sums
	since    time.Duration
	waitsFor string
	state    string
}

// rowsOf returns the ranks of a job, each with its rates, in rows.
func rowsOf(job whereabouts.Job, rates map[key]rate, by grouping) (rows []row) {
	for _, host := range job.Hosts {
		var ofHost []row
		var pids []int
		var resident uint64
		for _, p := range host.Processes {
			var ofProcess []row
			for _, r := range p.Ranks {
				ofProcess = append(ofProcess, rowOf(host, p, r, rates[key{host.Proxy, r.Rank}]))
			}
			if by == byProcess {
				ofProcess = merged(ofProcess, []int{p.PID}, p.Resident)
			}
			ofHost, pids, resident = append(ofHost, ofProcess...), append(pids, p.PID), resident+p.Resident
		}
		if by == byHost {
			ofHost = merged(ofHost, pids, resident)
		}
		rows = append(rows, ofHost...)
	}
	return rows
}

// rowOf returns the row of a rank. Names may hold anything.
func rowOf(host whereabouts.Host, p whereabouts.Process, r whereabouts.Rank, of rate) row {
	one := row{
		group: host.Group, ranks: []int{r.Rank}, pids: known([]int{r.PID}), host: terminal.Printable(host.Name), together: len(p.Ranks), resident: p.Resident,
		rate: of, since: r.Since, waitsFor: waitsFor(r), state: terminal.Printable(r.State),
	}
	if r.InMPI {
		one.inMPI = 1
	}
	if r.Ended {
		one.ended, one.resident = 1, 0
	}
	return one
}

func waitsFor(r whereabouts.Rank) string {
	text := ranges.Format(r.For)
	if r.ForMore > 0 {
		text += fmt.Sprintf(",+%d", r.ForMore)
	}
	if r.ForAny {
		text = strings.TrimPrefix(text+",any", ",")
	}
	return text
}

// known returns the process ids that are known, in their order.
func known(pids []int) []int {
	slices.Sort(pids)
	return slices.DeleteFunc(slices.Compact(pids), func(pid int) bool { return pid == 0 })
}

// merged puts the rows of ranks together into one, if there are any. What they do is told of the ranks of each state, the most frequent one
// first.
func merged(rows []row, pids []int, resident uint64) []row {
	if len(rows) == 0 {
		return nil
	}
	all := row{group: rows[0].group, host: rows[0].host, pids: known(pids), resident: resident, since: rows[0].since, rate: sum(rows), state: rows[0].state}
	in := map[string]int{}
	for _, r := range rows {
		all.ranks = append(all.ranks, r.ranks...)
		all.inMPI, all.ended, all.since = all.inMPI+r.inMPI, all.ended+r.ended, min(all.since, r.since)
		in[r.state]++
	}
	slices.Sort(all.ranks)
	if len(in) > 1 {
		all.state = states(in)
	}
	return []row{all}
}

// sum returns the rates of ranks together: the mean of the shares of time in MPI, and the sums of the others. Where none is known the sum is
// not known.
func sum(rows []row) rate {
	total, ranks := unknown, 0.0
	add := func(to *float64, value float64) {
		if value >= 0 {
			*to = max(*to, 0) + value
		}
	}
	for _, r := range rows {
		if r.rate.mpi >= 0 {
			ranks++
		}
		add(&total.mpi, r.rate.mpi)
		add(&total.cpu, r.rate.cpu)
		add(&total.voluntary, r.rate.voluntary)
		add(&total.involuntary, r.rate.involuntary)
		add(&total.faults, r.rate.faults)
	}
	if ranks > 0 {
		total.mpi /= ranks
	}
	return total
}

// states tells how many ranks are in each state.
func states(in map[string]int) string {
	var texts []string
	for state := range in {
		texts = append(texts, state)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(in[b]-in[a], strings.Compare(a, b)) })
	for i, state := range texts {
		texts[i] = fmt.Sprintf("%d: %s", in[state], state)
	}
	return strings.Join(texts, "; ")
}
