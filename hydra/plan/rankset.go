// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/tpsl/tpsl/internal/ranges"
	"github.com/tpsl/tpsl/internal/topology"
)

// A RankSet is the ranks that the launcher gives to one process.
type RankSet struct {
	Program int // index in [Host.Programs], the ranks' appnum
	Ranks   []int
	Local   int // index of its first rank among the host's ranks
}

// Only returns the part of the set that has only one rank.
func (s RankSet) Only(rank int) RankSet {
	i := slices.Index(s.Ranks, rank)
	return s.part(i, i+1)
}

// Each returns the parts of the set that have one rank each, in order.
func (s RankSet) Each() (parts []RankSet) {
	for slot := range s.Ranks {
		parts = append(parts, s.part(slot, slot+1))
	}
	return parts
}

// part returns the set's ranks from slot first to slot end-1.
func (s RankSet) part(first, end int) RankSet {
	return RankSet{Program: s.Program, Ranks: s.Ranks[first:end], Local: s.Local + first}
}

// Holds reports whether the set has the rank.
func (s RankSet) Holds(rank int) bool { return slices.Contains(s.Ranks, rank) }

// Label names the set as output labels and reports do: "3", "4-7", "0,2".
func (s RankSet) Label() string { return ranges.Format(s.Ranks) }

// Name names the set in sentences: "rank 3", "ranks 4-7".
func (s RankSet) Name() string { return RankNames(s.Ranks) }

// RankNames names ranks in sentences: "rank 3", "ranks 4-7".
func RankNames(ranks []int) string {
	if len(ranks) == 1 {
		return "rank " + ranges.Format(ranks)
	}
	return "ranks " + ranges.Format(ranks)
}

// cutByNumber divides a host's ranks of a segment, in rank order, into sets of this size. The last set has the remaining ranks.
func cutByNumber(program int, ranks []int, size, local int) []RankSet {
	var sets []RankSet
	for set := range slices.Chunk(ranks, size) {
		sets = append(sets, RankSet{Program: program, Ranks: set, Local: local})
		local += len(set)
	}
	return sets
}

// cutByObject divides the sets of programs that want a process for each object of a kind. A new set begins where the object of the
// ranks changes. cpus has the CPUs of each local rank.
func cutByObject(sets []RankSet, programs []Program, cpus []topology.Set, m *topology.Machine) []RankSet {
	var cut []RankSet
	for _, set := range sets {
		kind := topology.Kind(programs[set.Program].PerObject)
		objects := m.Objects(kind) // none for "node", and for programs with a number
		begin := 0
		for i := range set.Ranks {
			if i > 0 && len(objects) > 0 && !slices.Equal(touched(objects, cpus[set.Local+i]), touched(objects, cpus[set.Local+i-1])) {
				cut = append(cut, set.part(begin, i))
				begin = i
			}
		}
		cut = append(cut, set.part(begin, len(set.Ranks)))
	}
	return cut
}

// touched lists the objects that have some of the CPUs.
func touched(objects []topology.Object, cpus topology.Set) (which []int) {
	for i, o := range objects {
		if len(o.CPUs.And(cpus)) > 0 {
			which = append(which, i)
		}
	}
	return which
}
