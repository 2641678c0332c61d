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
	together int    // ranks that share the memory
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
		for _, p := range host.Processes {
			var ofProcess []row
			for _, r := range p.Ranks {
				ofProcess = append(ofProcess, rowOf(host, p, r, rates[key{host.Proxy, r.Rank}]))
			}
			if by != byRank && len(ofProcess) > 0 {
				ofProcess = []row{merged(ofProcess, p.Resident)}
			}
			ofHost = append(ofHost, ofProcess...)
		}
		if by == byHost && len(ofHost) > 0 {
			var resident uint64
			for _, r := range ofHost {
				resident += r.resident
			}
			ofHost = []row{merged(ofHost, resident)}
		}
		rows = append(rows, ofHost...)
	}
	return rows
}

// rowOf returns the row of a rank. Names may hold anything.
func rowOf(host whereabouts.Host, p whereabouts.Process, r whereabouts.Rank, of rate) row {
	one := row{
		group: host.Group, ranks: []int{r.Rank}, host: terminal.Printable(host.Name), together: len(p.Ranks), resident: p.Resident,
		rate: of, since: r.Since, waitsFor: waitsFor(r), state: terminal.Printable(r.State),
	}
	if r.PID > 0 {
		one.pids = []int{r.PID}
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

// merged puts rows together. What they do is told of the ranks of each state, the most frequent one first.
func merged(rows []row, resident uint64) row {
	all := row{group: rows[0].group, host: rows[0].host, resident: resident, since: rows[0].since, rate: sum(rows)}
	in := map[string]int{}
	for _, r := range rows {
		all.ranks, all.pids = append(all.ranks, r.ranks...), append(all.pids, r.pids...)
		all.inMPI, all.ended, all.since = all.inMPI+r.inMPI, all.ended+r.ended, min(all.since, r.since)
		in[r.state] += len(r.ranks)
	}
	slices.Sort(all.ranks)
	slices.Sort(all.pids)
	all.pids, all.together = slices.Compact(all.pids), len(all.ranks)
	all.state = rows[0].state
	if len(in) > 1 {
		all.state = states(in)
	}
	return all
}

// sum returns the rates of rows together. Where none is known the sum is not known.
func sum(rows []row) rate {
	total, weights := unknown, 0.0
	add := func(to *float64, value, weight float64) {
		if value >= 0 {
			*to = max(*to, 0) + value*weight
		}
	}
	for _, r := range rows {
		if r.rate.mpi >= 0 {
			weights += float64(len(r.ranks))
		}
		add(&total.mpi, r.rate.mpi, float64(len(r.ranks)))
		add(&total.cpu, r.rate.cpu, 1)
		add(&total.voluntary, r.rate.voluntary, 1)
		add(&total.involuntary, r.rate.involuntary, 1)
		add(&total.faults, r.rate.faults, 1)
	}
	if weights > 0 {
		total.mpi /= weights
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
