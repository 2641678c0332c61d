// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"slices"
)

// A waiting is what is known of how long calls waited, summed over ranks.
type waiting struct {
	wait    float64 // seconds, a part of their time
	unknown bool    // they may wait, and of none of them is known how long
	told    bool    // of some of them it is known
}

func (w *waiting) add(c *Calls, waits map[*Calls]float64) {
	wait, told := waits[c]
	w.wait += wait
	w.told = w.told || told
	w.unknown = !w.told && (w.unknown || mayWait(c.Function))
}

// shareText writes which share of a time that is, and a dash if it is not known.
func (w waiting) shareText(whole float64) string {
	if w.unknown {
		return "-"
	}
	return percent(share(w.wait, whole))
}

// A site is a function and a place that calls it, over all ranks.
type site struct {
	function     string
	place        int
	ranks        int // that call it
	calls, bytes float64
	time         float64 // sum over ranks
	waiting
	shortest float64
	longest  float64 // of one call
	most     int     // index of the rank that spent most time there
	mostTime float64
}

// sites returns all of them, those with most time first.
func (p *Profile) sites(waits map[*Calls]float64) []site {
	type key struct {
		function string
		place    int
	}
	found := map[key]*site{}
	for i := range p.Ranks {
		mine := map[*site]float64{}
		for j := range p.Ranks[i].Calls {
			c := &p.Ranks[i].Calls[j]
			k := key{c.Function, c.Place}
			s := found[k]
			if s == nil {
				s = &site{function: c.Function, place: c.Place, shortest: c.Min}
				found[k] = s
			}
			s.calls += float64(c.Calls)
			s.bytes += float64(c.Bytes)
			s.time += c.Time
			s.waiting.add(c, waits)
			s.shortest, s.longest = min(s.shortest, c.Min), max(s.longest, c.Max)
			mine[s] += c.Time
		}
		for s, time := range mine {
			s.ranks++
			if time > s.mostTime {
				s.most, s.mostTime = i, time
			}
		}
	}
	return sortedBy(found, func(a, b *site) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.function, b.function), cmp.Compare(a.place, b.place))
	})
}

// sortedBy returns the values of a map in an order.
func sortedBy[K comparable, V any](found map[K]*V, order func(a, b *V) int) []V {
	pointers := make([]*V, 0, len(found))
	for _, v := range found {
		pointers = append(pointers, v)
	}
	slices.SortFunc(pointers, order)
	values := make([]V, len(pointers))
	for i, v := range pointers {
		values[i] = *v
	}
	return values
}

// A usage is what a collective operation did on a communicator, over all places and ranks.
type usage struct {
	communicator int
	function     string
	ranks        int
	calls, bytes float64 // sums over ranks
	time         float64
	waiting
}

// usages returns those of all communicators, those with most time first.
func (p *Profile) usages(waits map[*Calls]float64) []usage {
	type key struct {
		communicator int
		function     string
	}
	found := map[key]*usage{}
	for i := range p.Ranks {
		mine := map[*usage]bool{}
		for j := range p.Ranks[i].Calls {
			c := &p.Ranks[i].Calls[j]
			if !isCollective(c.Function) {
				continue
			}
			k := key{c.Communicator, c.Function}
			u := found[k]
			if u == nil {
				u = &usage{communicator: c.Communicator, function: c.Function}
				found[k] = u
			}
			u.calls += float64(c.Calls)
			u.bytes += float64(c.Bytes)
			u.time += c.Time
			u.waiting.add(c, waits)
			mine[u] = true
		}
		for u := range mine {
			u.ranks++
		}
	}
	return sortedBy(found, func(a, b *usage) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.communicator, b.communicator), cmp.Compare(a.function, b.function))
	})
}

// A delay says who comes late to a collective operation.
type delay struct {
	function            string
	place, communicator int
	calls               float64 // of each member
	last, first         int     // indices of the ranks that came latest and earliest, on average
	late, early         float64 // by how much later and earlier than the mean of the members, in seconds for each call
	clock               float64 // by how much clocks of the members' hosts may differ, in seconds
}

// cost is about how long an average member waited for the latest one in all, in seconds.
func (d *delay) cost() float64 { return d.late * d.calls }

// isCertain reports whether the clocks are good enough to tell.
func (d *delay) isCertain() bool { return d.late > d.clock }

// delays returns those of all operations with a known lateness, the most costly first.
func (p *Profile) delays() []delay {
	found := map[operationKey]*delay{}
	hosts := map[operationKey]map[int]bool{}
	for i := range p.Ranks {
		for j := range p.Ranks[i].Calls {
			c := &p.Ranks[i].Calls[j]
			if c.Late == nil {
				continue
			}
			k := operationKey{c.Function, c.Place, c.Communicator}
			d := found[k]
			if d == nil {
				d = &delay{function: c.Function, place: c.Place, communicator: c.Communicator, last: i, first: i, late: *c.Late, early: *c.Late}
				found[k], hosts[k] = d, map[int]bool{}
			}
			d.calls = max(d.calls, float64(c.Calls))
			hosts[k][p.Ranks[i].Host] = true
			if *c.Late > d.late {
				d.last, d.late = i, *c.Late
			}
			if *c.Late < d.early {
				d.first, d.early = i, *c.Late
			}
		}
	}
	for k, d := range found {
		d.clock = p.clockError(hosts[k])
	}
	return sortedBy(found, func(a, b *delay) int {
		return cmp.Or(cmp.Compare(b.cost(), a.cost()), cmp.Compare(a.function, b.function), cmp.Compare(a.place, b.place), cmp.Compare(a.communicator, b.communicator))
	})
}

// clockError is by how much clocks of some hosts may differ: the sum of the two greatest errors.
func (p *Profile) clockError(hosts map[int]bool) float64 {
	var first, second float64
	if len(hosts) < 2 {
		return 0
	}
	for host := range hosts {
		switch e := p.Hosts[host].ClockError; {
		case e > first:
			first, second = e, first
		case e > second:
			second = e
		}
	}
	return first + second
}

// sizes returns the classes of all ranks together, by way and size.
func (p *Profile) sizes() []Size {
	type key struct {
		way  Way
		from int64
	}
	found := map[key]*Size{}
	for i := range p.Ranks {
		for _, s := range p.Ranks[i].Sizes {
			k := key{s.Way, s.From}
			if found[k] == nil {
				found[k] = &Size{Way: s.Way, From: s.From}
			}
			found[k].Count += s.Count
			found[k].Bytes += s.Bytes
		}
	}
	order := map[Way]int{Messages: 0, OneSided: 1, Collective: 2}
	return sortedBy(found, func(a, b *Size) int {
		return cmp.Or(cmp.Compare(order[a.Way], order[b.Way]), cmp.Compare(a.From, b.From))
	})
}
