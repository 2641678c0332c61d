// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import "github.com/tpsl/tpsl/calls"

// Efficiencies are those of the POP project (https://pop-coe.eu), from 0 to 1. Useful time is the time outside of MPI. Parallel is the mean
// of the ranks' useful time over the run time. It is LoadBalance, which is their mean over their maximum, times Communication, which is their maximum
// over the run time.
type Efficiencies struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	Runtime       float64 `json:"runtime"`     // the longest of the ranks' elapsed times, in seconds
	MeanUseful    float64 `json:"mean_useful"` // seconds
	MaxUseful     float64 `json:"max_useful"`  // seconds
}

// Efficiencies returns those of the ranks that were counted. They are 1 if there are none, or if no time has passed.
func (p *Profile) Efficiencies() Efficiencies {
	e := Efficiencies{Parallel: 1, LoadBalance: 1, Communication: 1}
	ranks := 0
	for i := range p.Ranks {
		r := &p.Ranks[i]
		if !r.Counted {
			continue
		}
		ranks++
		e.Runtime = max(e.Runtime, r.Elapsed)
		e.MaxUseful = max(e.MaxUseful, r.Outside())
		e.MeanUseful += r.Outside()
	}
	if ranks > 0 {
		e.MeanUseful /= float64(ranks)
	}
	if e.MaxUseful > 0 {
		e.LoadBalance = e.MeanUseful / e.MaxUseful
	}
	if e.Runtime > 0 {
		e.Communication = e.MaxUseful / e.Runtime
		e.Parallel = e.MeanUseful / e.Runtime
	}
	return e
}

// Parts are what the time of a rank went into, in seconds. Their sum is the rank's elapsed time.
//
// At a synchronising collective operation no member leaves before all have come, and the one that comes last does not wait. So the times of the
// member that took least, summed over all calls from a place, are Transfer, and by how much longer another one took is its Wait. If not always the
// same member came last, all have waited, also the one that took least: Wait is a lower bound, and Transfer an upper one.
type Parts struct {
	Compute  float64 `json:"compute"`  // outside of MPI
	Wait     float64 `json:"wait"`     // for other members, at synchronising collective operations
	Either   float64 `json:"either"`   // in other calls that may wait: waiting or transfer
	Transfer float64 `json:"transfer"` // the rest of MPI: transfer, and calls that do not wait
}

// An operation is a row of calls that the members of a communicator share: all have called a function equally often from one place.
type operation struct {
	function            string
	place, communicator int
	members             []member
}

type member struct {
	rank  int // index
	calls *Calls
}

type operationKey struct {
	function            string
	place, communicator int
}

// operations returns those of all synchronising functions, in the order in which the ranks have them.
func (p *Profile) operations() []*operation {
	found := map[operationKey]*operation{}
	var order []*operation
	for i := range p.Ranks {
		for j := range p.Ranks[i].Calls {
			c := &p.Ranks[i].Calls[j]
			if !p.Ranks[i].Counted || c.Communicator < 0 || c.Place < 0 || !calls.IsSynchronising(c.Function) {
				continue
			}
			key := operationKey{c.Function, c.Place, c.Communicator}
			m := found[key]
			if m == nil {
				m = &operation{function: c.Function, place: c.Place, communicator: c.Communicator}
				found[key], order = m, append(order, m)
			}
			m.members = append(m.members, member{i, c})
		}
	}
	var complete []*operation
	for _, m := range order {
		if m.isComplete(p.Communicators[m.communicator].Size) {
			complete = append(complete, m)
		}
	}
	return complete
}

func (m *operation) isComplete(size int) bool {
	for i, one := range m.members {
		if one.calls.Calls != m.members[0].calls.Calls || i > 0 && one.rank == m.members[i-1].rank {
			return false
		}
	}
	return len(m.members) == size
}

// least is the time of the member that took least.
func (m *operation) least() float64 {
	least := m.members[0].calls.Time
	for _, one := range m.members {
		least = min(least, one.calls.Time)
	}
	return least
}

// waits returns how long each row of calls has waited at least, at synchronising operations. Rows that are not in it are not
// known to have waited.
func waits(operations []*operation) map[*Calls]float64 {
	known := map[*Calls]float64{}
	for _, m := range operations {
		least := m.least()
		for _, one := range m.members {
			known[one.calls] = one.calls.Time - least
		}
	}
	return known
}

// parts returns those of a rank.
func (r *Rank) parts(waits map[*Calls]float64) Parts {
	var inside Parts
	for i := range r.Calls {
		c := &r.Calls[i]
		wait, met := waits[c]
		switch {
		case met:
			inside.Wait += wait
			inside.Transfer += c.Time - wait
		case mayWait(c.Function):
			inside.Either += c.Time
		default:
			inside.Transfer += c.Time
		}
	}
	spent := r.Elapsed - r.Outside()
	counted := inside.Wait + inside.Either + inside.Transfer
	if counted <= spent {
		inside.Either += spent - counted // of calls that are not in the table
	} else { // several threads were in MPI at the same time, or little is left out of rounding
		scale := spent / counted
		inside.Wait *= scale
		inside.Either *= scale
		inside.Transfer *= scale
	}
	inside.Compute = r.Outside()
	return inside
}

// add adds other parts.
func (a *Parts) add(b Parts) {
	a.Compute += b.Compute
	a.Wait += b.Wait
	a.Either += b.Either
	a.Transfer += b.Transfer
}

// mpi is the time in MPI.
func (a Parts) mpi() float64 { return a.Wait + a.Either + a.Transfer }

func (a Parts) sum() float64 { return a.Compute + a.mpi() }
