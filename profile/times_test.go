// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ranksOf makes a profile of ranks on one host, each in a process of its own.
func ranksOf(ranks ...Rank) *Profile {
	p := &Profile{
		Format: Format, Job: Job{Command: "./a.out"}, Hosts: []Host{{Name: "n1"}}, Ranks: ranks,
		Places:        []Place{{File: "/src/solver.c", Line: 212, Function: "step"}, {File: "/src/halo.c", Line: 88}},
		Communicators: []Communicator{{"MPI_COMM_WORLD", len(ranks), span(0, len(ranks))}},
	}
	for i := range p.Ranks {
		p.Ranks[i].Rank, p.Ranks[i].Process, p.Ranks[i].Counted, p.Ranks[i].Ended = i, i, true, true
	}
	return p
}

// exact is how near numbers are that are equal but for rounding.
const exact = 1e-12

func TestEfficiencies(t *testing.T) {
	e := ranksOf(Rank{Elapsed: 10, MPI: 2}, Rank{Elapsed: 10, MPI: 6}, Rank{Elapsed: 9, MPI: 9}).Efficiencies()
	assert.InDelta(t, 10.0, e.Runtime, exact)
	assert.InDelta(t, 8.0, e.MaxUseful, exact)
	assert.InDelta(t, 4.0, e.MeanUseful, exact)
	assert.InDelta(t, 0.4, e.Parallel, exact)
	assert.InDelta(t, 0.5, e.LoadBalance, exact)
	assert.InDelta(t, 0.8, e.Communication, exact)
	assert.InDelta(t, e.Parallel, e.LoadBalance*e.Communication, 1e-15)

	uncounted := ranksOf(Rank{Elapsed: 10, MPI: 2}, Rank{Elapsed: 99})
	uncounted.Ranks[1].Counted = false
	assert.InDelta(t, 0.8, uncounted.Efficiencies().Parallel, exact, "a rank of which nothing is known is left out")

	for name, p := range map[string]*Profile{"no time": ranksOf(Rank{}), "no useful time": ranksOf(Rank{Elapsed: 1, MPI: 1}), "no ranks": {}} {
		e := p.Efficiencies()
		for _, x := range []float64{e.Parallel, e.LoadBalance, e.Communication} {
			assert.True(t, x >= 0 && x <= 1, "%s: %+v", name, e)
		}
	}
	assert.Zero(t, ranksOf(Rank{Elapsed: 1, MPI: 1}).Efficiencies().Parallel)
}

// startsAndEnds are the calls at the beginning and at the end of a rank.
func startsAndEnds(start string, first, last float64) []Calls {
	return []Calls{{Function: start, Place: 1, Communicator: None, Calls: 1, Time: first}, {Function: "MPI_Finalize", Place: 1, Communicator: None, Calls: 1, Time: last}}
}

// MPI_Init and MPI_Finalize are in no efficiency, in no part of a rank's time and in no share; what they took is told.
func TestStartIsLeftOut(t *testing.T) {
	p := ranksOf(
		Rank{Elapsed: 20, MPI: 14, Calls: append(startsAndEnds("MPI_Init_thread", 9, 1), Calls{Function: "MPI_Recv", Communicator: None, Calls: 1, Time: 3}, Calls{Function: "MPI_Isend", Calls: 1, Time: 1})},
		Rank{Elapsed: 18, MPI: 10, Calls: append(startsAndEnds("MPI_Init_thread", 7, 3), Calls{Function: "MPI_Barrier", Communicator: Other, Calls: 1})},
	)
	s := p.summarize()
	assert.InDelta(t, 10, s.efficiencies.Runtime, exact)
	assert.InDelta(t, 0.7, s.efficiencies.Parallel, exact)
	assert.Equal(t, []division{{compute: 6, either: 3, transfer: 1}, {compute: 8}}, s.parts)
	assert.InDelta(t, 4.0/18, s.mpiShare(), exact)
	assert.Equal(t, "MPI_Init_thread took 8.00 s, MPI_Finalize took 2.00 s, on average of the ranks. Shares of time and efficiencies leave that out.", s.started())
	for _, one := range s.sites {
		assert.False(t, isStartOrEnd(one.function))
	}
	text := textOfProfile(t, p)
	assert.Contains(t, text, "MPI_Init_thread took 8.00 s")
	assert.NotRegexp(t, `% .*MPI_Init`, text)
	assert.Contains(t, pageOf(t, p), "MPI_Init_thread took 8.00 s")
	assert.Contains(t, compared2(t, p, p), "\n  halo.c:88 MPI_Init_thread", "two starts can be compared")

	inconsistent := ranksOf(Rank{Elapsed: 5, MPI: 1, Calls: startsAndEnds("MPI_Init", 3, 3)})
	assert.InDelta(t, 4, inconsistent.summarize().parts[0].sum(), exact, "calls that take longer than the rank was in MPI")
	assert.Empty(t, ranksOf(Rank{Elapsed: 1}).summarize().started())
}

// reduce are 10 calls of MPI_Allreduce from solver.c:212 on the first communicator.
func reduce(time float64) Calls {
	return Calls{Function: "MPI_Allreduce", Calls: 10, Time: time, Min: time / 20, Max: time / 5}
}

func partsOf(p *Profile) []division { return p.summarize().parts }

func TestPartsOfMeetings(t *testing.T) {
	p := ranksOf(
		Rank{Elapsed: 10, MPI: 4, Calls: []Calls{reduce(3), {Function: "MPI_Recv", Place: 1, Time: 0.5}, {Function: "MPI_Isend", Place: 1, Time: 0.5}}},
		Rank{Elapsed: 10, MPI: 1, Calls: []Calls{reduce(1)}},
	)
	assert.Equal(t, []division{{compute: 6, wait: 2, either: 0.5, transfer: 1.5}, {compute: 9, transfer: 1}}, partsOf(p))

	for name, change := range map[string]func(){
		"a member has called more often": func() { p.Ranks[1].Calls[0].Calls++ },
		"from another place":             func() { p.Ranks[1].Calls[0].Place = 1 },
		"a member is not known":          func() { p.Communicators[0] = Communicator{"MPI_COMM_WORLD", 3, "0-1"} },
		"it has a root":                  func() { p.Ranks[0].Calls[0].Function, p.Ranks[1].Calls[0].Function = "MPI_Bcast", "MPI_Bcast" },
		"other communicators":            func() { p.Ranks[0].Calls[0].Communicator, p.Ranks[1].Calls[0].Communicator = Other, Other },
		"other places":                   func() { p.Ranks[0].Calls[0].Place, p.Ranks[1].Calls[0].Place = Other, Other },
	} {
		first, second, world := p.Ranks[0].Calls[0], p.Ranks[1].Calls[0], p.Communicators[0]
		change()
		parts := partsOf(p)
		assert.Zero(t, parts[0].wait, name)
		assert.InDelta(t, 3.5, parts[0].either, exact, name)
		p.Ranks[0].Calls[0], p.Ranks[1].Calls[0], p.Communicators[0] = first, second, world
	}
	assert.InDelta(t, 2.0, partsOf(p)[0].wait, exact)
}

// Whatever the calls say, the parts are those of the rank's elapsed time.
func TestPartsAddUp(t *testing.T) {
	for name, r := range map[string]Rank{
		"calls that are not in the table": {Elapsed: 10, MPI: 4, Calls: []Calls{{Function: "MPI_Send", Time: 1}}},
		"threads at the same time":        {Elapsed: 10, MPI: 15, Calls: []Calls{{Function: "MPI_Send", Time: 10}, {Function: "MPI_Isend", Time: 5}}},
		"no calls":                        {Elapsed: 10, MPI: 3},
		"calls without a time":            {Elapsed: 10, Calls: []Calls{{Function: "MPI_Send", Time: 3}}},
	} {
		a := partsOf(ranksOf(r))[0]
		assert.InDelta(t, 10, a.sum(), 1e-12, name)
		assert.InDelta(t, r.Outside(), a.compute, exact, name)
		assert.GreaterOrEqual(t, min(a.wait, a.either, a.transfer), 0.0, name)
	}
	threads := partsOf(ranksOf(Rank{Elapsed: 10, MPI: 15, Calls: []Calls{{Function: "MPI_Send", Time: 10}, {Function: "MPI_Isend", Time: 5}}}))[0]
	assert.InDelta(t, 2*threads.transfer, threads.either, 1e-12)
}

func TestFunctions(t *testing.T) {
	for name, want := range map[string][2]bool{ // collective, may wait
		"MPI_Allreduce": {true, true}, "MPI_Allreduce_c": {true, true}, "MPI_Iallreduce": {true, false}, "MPI_Allreduce_init": {true, false},
		"MPI_Ibarrier": {true, false}, "MPI_Recv": {false, true}, "MPI_Irecv": {false, false}, "MPI_Init": {false, true},
		"MPI_Ineighbor_alltoallw_c": {true, false}, "MPI_I": {false, false}, "MPI_Comm_split": {true, true}, "MPI_Bcast_init_c": {true, false}, "MPI_Unknown": {false, false}, "MPI_Test": {false, false}, "": {false, true}, "MPI_Waitall": {false, true},
	} {
		assert.Equal(t, want, [2]bool{isCollective(name), mayWait(name)}, name)
	}
}

func TestSites(t *testing.T) {
	p := ranksOf(
		Rank{Elapsed: 10, MPI: 4, Calls: []Calls{reduce(3), {Function: "MPI_Recv", Place: 1, Communicator: None, Calls: 4, Bytes: 100, Time: 0.5, Min: 0.05, Max: 0.3}}},
		Rank{Elapsed: 10, MPI: 1, Calls: []Calls{reduce(1), {Function: "MPI_Recv", Place: 1, Communicator: 0, Calls: 1, Bytes: 8, Time: 0.25, Min: 0.25, Max: 0.25}, {Function: "MPI_Recv", Place: 1, Communicator: Other, Calls: 1, Time: 0.5, Min: 0.5, Max: 0.5}}},
	)
	sites := p.summarize().sites
	require.Len(t, sites, 2)
	assert.Equal(t, site{function: "MPI_Allreduce", ranks: 2, calls: 20, time: 4, waiting: waiting{wait: 2, told: true}, shortest: 0.05, longest: 0.6, mostTime: 3}, sites[0])
	assert.Equal(t, site{function: "MPI_Recv", place: 1, ranks: 2, calls: 6, bytes: 108, time: 1.25, waiting: waiting{unknown: true}, shortest: 0.05, longest: 0.5, most: 1, mostTime: 0.75}, sites[1])
}

func TestUsages(t *testing.T) {
	p := ranksOf(Rank{Elapsed: 10, MPI: 4, Calls: []Calls{reduce(3), {Function: "MPI_Allreduce", Place: 1, Calls: 2, Bytes: 16, Time: 1}, {Function: "MPI_Send", Time: 1}}}, Rank{Elapsed: 10, MPI: 1, Calls: []Calls{reduce(1)}})
	assert.Equal(t, []usage{{communicator: 0, function: "MPI_Allreduce", ranks: 2, calls: 22, bytes: 16, time: 5, waiting: waiting{wait: 2, told: true}}}, p.summarize().usages)
}

func lateBy(late float64) Calls {
	c := reduce(1)
	c.Late = &late
	return c
}

func TestDelays(t *testing.T) {
	p := ranksOf(Rank{Calls: []Calls{lateBy(-0.002)}}, Rank{Calls: []Calls{lateBy(0.003)}}, Rank{Calls: []Calls{lateBy(-0.001)}})
	p.Hosts = []Host{{Name: "n1"}, {Name: "n2", ClockError: 0.001}, {Name: "n3", ClockError: 0.0015}}
	d := p.delays()
	require.Len(t, d, 1)
	assert.Equal(t, delay{function: "MPI_Allreduce", calls: 10, last: 1, first: 0, late: 0.003, early: -0.002}, d[0])
	assert.InDelta(t, 0.03, d[0].cost(), 1e-15)
	assert.True(t, d[0].isCertain())

	p.Ranks[1].Host, p.Ranks[2].Host = 1, 2
	assert.InDelta(t, 0.0025, p.delays()[0].clock, 1e-15, "of the two hosts that are least exact")
	p.Hosts[2].ClockError = 0.01
	assert.False(t, p.delays()[0].isCertain())

	for i := range p.Ranks {
		later := lateBy(*p.Ranks[i].Calls[0].Late / 2)
		later.Place, later.Calls = 1, 1000
		p.Ranks[i].Calls = append(p.Ranks[i].Calls, later)
	}
	assert.Equal(t, []int{1, 0}, []int{p.delays()[0].place, p.delays()[1].place}, "the most costly first")
}
