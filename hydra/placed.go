// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"slices"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/internal/topology"
)

// Placed is what a proxy tells before it starts ranks: what only the host's hardware decides.
type Placed struct {
	Sets   []RankSet // where they are not as planned
	Report []string  // lines of -report-bindings
}

// CutSets cuts, of programs that want a process for each object of a kind, the rank sets where the ranks' object changes.
// cpus has the CPUs of each local rank.
func CutSets(sets []RankSet, programs []Program, cpus []topology.Set, m *topology.Machine) []RankSet {
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

// part returns the set's ranks from slot first to slot end-1.
func (s RankSet) part(first, end int) RankSet {
	return RankSet{Program: s.Program, Ranks: s.Ranks[first:end], Local: s.Local + first}
}

// placed notes what the host's hardware has decided. The report goes out here, in front of all output of the host's ranks.
func (j *Job) placed(link *proxyLink, frame channel.Frame) {
	var placed Placed
	if err := frame.Value(&placed); err != nil {
		j.events <- event{link: link, frame: channel.Frame{Kind: channel.Failed, Body: []byte(err.Error())}}
		return
	}
	for _, line := range placed.Report {
		j.stderr.line("mpiexec: " + line)
	}
	if placed.Sets != nil {
		j.events <- event{link: link, sets: placed.Sets}
	}
}
