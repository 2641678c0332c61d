// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// allWays are in the order in which they are shown.
var allWays = []Way{Messages, OneSided, Collective}

// An amount is like Amount, in numbers whose sums do not overflow.
type amount struct{ count, bytes float64 }

func (a *amount) add(count, bytes float64) {
	a.count += count
	a.bytes += bytes
}

// addAlike adds what goes to so many members.
func (a *amount) addAlike(what *alike, members int) {
	a.add(float64(members)*what.each.count, float64(members)*what.each.bytes)
}

func (a Amount) float() amount { return amount{float64(a.Count), float64(a.Bytes)} }

// A flow is what goes from one rank to another.
type flow struct {
	from, to int // indices
	way      Way
	amount
}

// alike is what goes from a rank, or a group of ranks, to each member of a communicator, less what the members among them would bring to themselves.
type alike struct {
	from         int
	communicator int
	each         amount
	itself       amount
}

// traffic is what ranks bring to each other.
type traffic struct {
	p       *Profile
	flows   []flow
	alikes  []alike
	unknown amount        // to ranks that are not told
	known   map[int][]int // members of communicators
}

// members are those of a communicator that are known, by their indices, which count up. Communicators that nothing but their name and size tells apart are
// one in the profile, with more ranks than members: then it is not known which rank is in which.
func (t *traffic) members(communicator int) []int {
	list, known := t.known[communicator]
	if !known {
		c := &t.p.Communicators[communicator]
		if list = membersOf(c.Members); len(list) > c.Size {
			list = nil
		}
		t.known[communicator] = list
	}
	return list
}

// membersOf reads ranges that have been checked.
func membersOf(text string) (list []int) {
	for part := range strings.SplitSeq(text, ",") {
		if from, last, ok := ranges.Parse(part); ok {
			for rank := from; rank <= last; rank++ {
				list = append(list, rank)
			}
		}
	}
	return list
}

// traffic returns it. The same message is told by its sender and by its receiver: it counts once, also if one of both has not been counted.
func (p *Profile) traffic() *traffic {
	t := &traffic{p: p, known: map[int][]int{}}
	sent := map[int]bool{} // pairs of sender and receiver, of which the sender tells
	for i := range p.Ranks {
		for j := range p.Ranks[i].Peers {
			if peer := &p.Ranks[i].Peers[j]; peer.Rank != Other && peer.Sent != (Amount{}) {
				sent[i*len(p.Ranks)+peer.Rank] = true
			}
		}
	}
	for i := range p.Ranks {
		for j := range p.Ranks[i].Peers {
			t.addPeer(i, &p.Ranks[i].Peers[j], sent)
		}
		for _, spread := range p.Ranks[i].Spread {
			t.addSpread(i, &spread)
		}
	}
	return t
}

func (t *traffic) addPeer(rank int, peer *Peer, sent map[int]bool) {
	if peer.Rank == Other {
		for _, a := range []Amount{peer.Sent, peer.Put, peer.Got, peer.Collective} {
			t.unknown.add(float64(a.Count), float64(a.Bytes))
		}
		return
	}
	if !sent[peer.Rank*len(t.p.Ranks)+rank] {
		t.add(peer.Rank, rank, Messages, peer.Received)
	}
	t.add(rank, peer.Rank, Messages, peer.Sent)
	t.add(rank, peer.Rank, OneSided, peer.Put)
	t.add(peer.Rank, rank, OneSided, peer.Got)
	t.add(rank, peer.Rank, Collective, peer.Collective)
}

func (t *traffic) addSpread(rank int, s *Spread) {
	members := t.members(s.Communicator)
	one, others := alike{from: rank, communicator: s.Communicator, each: s.float()}, len(members)
	if _, found := slices.BinarySearch(members, rank); found {
		one.itself = one.each
		others--
	}
	t.alikes = append(t.alikes, one)
	unknown := float64(max(0, t.p.Communicators[s.Communicator].Size-1-others))
	t.unknown.add(unknown*one.each.count, unknown*one.each.bytes)
}

func (t *traffic) add(from, to int, way Way, a Amount) {
	if a != (Amount{}) {
		t.flows = append(t.flows, flow{from, to, way, a.float()})
	}
}

// groups says of each rank in which group it is, of so many.
type groups struct {
	of []int
	n  int
}

// grouped numbers ranks' groups by their names, in the order in which they come.
func grouped[K comparable](ranks []Rank, name func(i int) K) groups {
	g := groups{of: make([]int, len(ranks))}
	numbers := map[K]int{}
	for i := range ranks {
		k := name(i)
		if _, known := numbers[k]; !known {
			numbers[k] = g.n
			g.n++
		}
		g.of[i] = numbers[k]
	}
	return g
}

func (p *Profile) byProcess() groups {
	return grouped(p.Ranks, func(i int) int { return p.Ranks[i].Process })
}

// byHost goes by names, as a host stands in the list once for each group of ranks that it has.
func (p *Profile) byHost() groups { return grouped(p.Ranks, p.hostOf) }

// byBlocks are the processes that ranks would be in with -rpp k: k consecutive ranks of a host are one.
func (p *Profile) byBlocks(k int) groups {
	type list struct {
		host  string
		group int
	}
	type block struct {
		list
		number int
	}
	order := make([]int, len(p.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Ranks[a].Rank, p.Ranks[b].Rank) })
	position, blocks := map[list]int{}, make([]block, len(p.Ranks))
	for _, i := range order {
		l := list{p.hostOf(i), p.Ranks[i].Group}
		blocks[i] = block{l, position[l] / k}
		position[l]++
	}
	return grouped(p.Ranks, func(i int) block { return blocks[i] })
}

// A presence is how the members of a communicator are spread over groups: how many are in each.
type presence map[int]int

func (t *traffic) presences(g groups) map[int]presence {
	found := map[int]presence{}
	for _, a := range t.alikes {
		if found[a.communicator] != nil {
			continue
		}
		found[a.communicator] = presence{}
		for _, member := range t.members(a.communicator) {
			found[a.communicator][g.of[member]]++
		}
	}
	return found
}

// total is what goes between ranks that are told.
func (t *traffic) total() (all amount) {
	totals := t.totals()
	for _, way := range allWays {
		all.add(totals[way].count, totals[way].bytes)
	}
	return all
}

// totals are what goes in each way.
func (t *traffic) totals() map[Way]amount {
	var collective amount
	for _, a := range t.alikes {
		collective.addAlike(&a, len(t.members(a.communicator)))
		collective.add(-a.itself.count, -a.itself.bytes)
	}
	all := map[Way]amount{Collective: collective}
	for _, f := range t.flows {
		a := all[f.way]
		a.add(f.count, f.bytes)
		all[f.way] = a
	}
	return all
}

// inside is what of it stays in its group.
func (t *traffic) inside(g groups) (all amount) {
	for _, f := range t.flows {
		if g.of[f.from] == g.of[f.to] {
			all.add(f.count, f.bytes)
		}
	}
	present := t.presences(g)
	for _, a := range t.alikes {
		all.addAlike(&a, present[a.communicator][g.of[a.from]])
		all.add(-a.itself.count, -a.itself.bytes)
	}
	return all
}

// A choice is a number of ranks for a process, and the share of bytes that stay in processes then.
type choice struct {
	rpp    int
	inside float64
	now    bool // it is as the job was
}

// choices returns the powers of two up to the most ranks of a host, this number, and the present one.
func (t *traffic) choices() []choice {
	most, now := t.p.mostRanks(t.p.byHost()), t.p.rpp()
	all := []int{most}
	for k := 1; k < most; k *= 2 {
		all = append(all, k)
	}
	if now > 0 {
		all = append(all, now)
	}
	slices.Sort(all)
	total := t.total().bytes
	var choices []choice
	for _, k := range slices.Compact(all) {
		g := t.p.byBlocks(k)
		if k == now {
			g = t.p.byProcess()
		}
		choices = append(choices, choice{k, share(t.inside(g).bytes, total), k == now})
	}
	return choices
}

// mostRanks is how many ranks the greatest group has.
func (p *Profile) mostRanks(g groups) int {
	sizes := make([]int, g.n)
	for _, group := range g.of {
		sizes[group]++
	}
	return slices.Max(sizes)
}

// rpp is how many ranks the processes have, the greatest of them: the last process of a host may have fewer.
func (p *Profile) rpp() int { return p.mostRanks(p.byProcess()) }

// ---- the matrix ----

// maxNodes is how many rows a matrix may have: those of more ranks are put together by processes.
const maxNodes = 512

// A node is a row and column of the matrix: a rank, or the ranks of one process or more.
type node struct {
	ranks   []int // indices
	process int   // number of the group of byProcess that the first one is in
	host    string
}

// nodes returns them ordered by host, process and rank, and the node of each rank.
func (p *Profile) nodes() ([]node, groups) {
	processes, hosts := p.byProcess(), p.byHost()
	order := make([]int, len(p.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &p.Ranks[a], &p.Ranks[b]
		return cmp.Or(cmp.Compare(hosts.of[a], hosts.of[b]), cmp.Compare(x.Process, y.Process), cmp.Compare(x.Group, y.Group), cmp.Compare(x.Rank, y.Rank))
	})
	together := 0 // how many processes are a node; 0: each rank is one
	if len(p.Ranks) > maxNodes {
		together = (processes.n + maxNodes - 1) / maxNodes
	}
	var all []node
	of, seen, last := groups{of: make([]int, len(p.Ranks))}, 0, -1
	for _, i := range order {
		if processes.of[i] != last {
			last = processes.of[i]
			seen++
		}
		if together == 0 || len(all) == 0 || (seen-1)/together >= len(all) {
			all = append(all, node{process: last, host: p.hostOf(i)})
		}
		all[len(all)-1].ranks = append(all[len(all)-1].ranks, i)
		of.of[i] = len(all) - 1
	}
	of.n = len(all)
	return all, of
}

// A matrix has what goes from row to column, for each way.
type matrix struct {
	n     int
	cells map[Way][]amount // n*n; none for a way without traffic
}

func (t *traffic) matrix(g groups) *matrix {
	m := &matrix{n: g.n, cells: map[Way][]amount{}}
	for _, f := range t.flows {
		m.of(f.way)[g.of[f.from]*g.n+g.of[f.to]].add(f.count, f.bytes)
	}
	present := t.presences(g)
	for _, sums := range t.sums(g) {
		cells := m.of(Collective)
		for to, members := range present[sums.communicator] {
			cells[sums.from*g.n+to].addAlike(&sums, members)
		}
		cells[sums.from*g.n+sums.from].add(-sums.itself.count, -sums.itself.bytes)
	}
	return m
}

// sums adds up what the ranks of a group bring to each member of a communicator alike. from of the result is the group.
func (t *traffic) sums(g groups) []alike {
	type key struct{ group, communicator int }
	found := map[key]*alike{}
	for _, a := range t.alikes {
		k := key{g.of[a.from], a.communicator}
		if found[k] == nil {
			found[k] = &alike{from: k.group, communicator: k.communicator}
		}
		found[k].each.add(a.each.count, a.each.bytes)
		found[k].itself.add(a.itself.count, a.itself.bytes)
	}
	return sortedBy(found, func(a, b *alike) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.communicator, b.communicator))
	})
}

func (m *matrix) of(way Way) []amount {
	if m.cells[way] == nil {
		m.cells[way] = make([]amount, m.n*m.n)
	}
	return m.cells[way]
}

// A pair is two nodes and what goes from one to the other, in all ways.
type pair struct {
	from, to int
	amount
}

// pairs returns those with most bytes first, at most so many, and how many there are.
func (m *matrix) pairs(most int) (top []pair, n int) {
	var all []pair
	for i := range m.n * m.n {
		c := pair{from: i / m.n, to: i % m.n}
		for _, way := range allWays {
			if cells := m.cells[way]; cells != nil {
				c.add(cells[i].count, cells[i].bytes)
			}
		}
		if c.count > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(b.count, a.count), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return all[:min(most, len(all))], len(all)
}
