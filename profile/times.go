// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import "github.com/tpsl/tpsl/calls"

// Efficiencies are those of the POP project (https://pop-coe.eu), from 0 to 1. Useful time is the time outside of MPI. The run time is without
// MPI_Init and MPI_Finalize, as POP has it. Parallel is the mean of the ranks' useful time over the run time. It is LoadBalance, which is their mean over their maximum, times Communication, which is their maximum
// over the run time.
type Efficiencies struct {
	Parallel      float64
	LoadBalance   float64
	Communication float64
	Runtime       float64 // the longest time of a rank between MPI_Init and MPI_Finalize, in seconds
	MeanUseful    float64 // seconds
	MaxUseful     float64 // seconds
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
		e.Runtime = max(e.Runtime, r.Between())
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

// A division says what the time of a rank between MPI_Init and MPI_Finalize went into, in seconds. Its parts add up to that time.
//
// At a synchronising collective operation no member leaves before all have come, and the one that comes last does not wait. So the times of the
// member that took least, summed over all calls from a place, are the transfer of each, and by how much longer another one took is its wait. If not always the
// same member came last, all have waited, also the one that took least: wait is a lower bound, and transfer an upper one. A member that leaves late, as it had no
// CPU, took longer as well, and sums do not tell this from waiting.
type division struct {
	compute  float64 // outside of MPI
	wait     float64 // for other members, at synchronising collective operations
	either   float64 // in other calls that may wait: waiting or transfer
	transfer float64 // the rest of MPI: transfer, and calls that do not wait
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
func (r *Rank) parts(waits map[*Calls]float64) division {
	var inside division
	for i := range r.Calls {
		c := &r.Calls[i]
		wait, met := waits[c]
		switch {
		case isStartOrEnd(c.Function):
		case met:
			inside.wait += wait
			inside.transfer += c.Time - wait
		case mayWait(c.Function):
			inside.either += c.Time
		default:
			inside.transfer += c.Time
		}
	}
	spent := r.inside()
	counted := inside.wait + inside.either + inside.transfer
	if counted <= spent {
		inside.either += spent - counted // of calls that are not in the table
	} else { // several threads were in MPI at the same time, or little is left out of rounding
		scale := spent / counted
		inside.wait *= scale
		inside.either *= scale
		inside.transfer *= scale
	}
	inside.compute = r.Outside()
	return inside
}

// add adds other parts.
func (a *division) add(b division) {
	a.compute += b.compute
	a.wait += b.wait
	a.either += b.either
	a.transfer += b.transfer
}

// mpi is the time in MPI.
func (a division) mpi() float64 { return a.wait + a.either + a.transfer }

func (a division) sum() float64 { return a.compute + a.mpi() }
