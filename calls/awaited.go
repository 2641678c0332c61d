// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import "slices"

// mostAwaited is how many ranks are named for whom one waits.
const mostAwaited = 8

// An Awaited says for which ranks of its world a rank waits, as far as its calls tell: the peers of messages, and the members that have
// not come to a collective operation.
type Awaited struct {
	Ranks []int // in the world, in their order; not all of them if there are many
	More  int   // that Ranks has no room for
	Any   bool  // also for any other member, of which one suffices
}

// AwaitedBy says for each rank of a world for whom it waits. Unlike Explain it takes the calls as they are, settled or not.
func AwaitedBy(ranks []Rank) []Awaited {
	w := newWaits(ranks)
	meetings := map[meeting][]int{}
	all := make([]Awaited, len(ranks))
	for i, r := range ranks {
		if r.Ended {
			continue
		}
		var wanted []int
		for _, c := range r.Calls {
			byCall, isAny := w.awaited(i, c, meetings)
			wanted = union(wanted, byCall)
			all[i].Any = all[i].Any || isAny
		}
		named := min(len(wanted), mostAwaited)
		all[i].Ranks, all[i].More = slices.Clone(wanted[:named]), len(wanted)-named
	}
	return all
}

// union returns what is in either of two lists that are in their order. It changes neither.
func union(a, b []int) []int {
	if len(a) == 0 {
		return b
	}
	both := slices.Concat(a, b)
	slices.Sort(both)
	return slices.Compact(both)
}

// A meeting is a collective operation. What is found out about its members serves all that are in it.
type meeting struct {
	communicator uint64
	operation    string
	root         int
}

// awaited lists the ranks for which a call waits, in their order. isAny is true for a receive of any source.
func (w *waits) awaited(i int, c Call, meetings map[meeting][]int) (ranks []int, isAny bool) {
	f := functionOf(c.Function)
	switch f.kind {
	case waitsForReceiver, waitsForSender:
		return w.numbers(c, c.Peer), c.Peer == AnySource
	case waitsForBoth:
		return w.numbers(c, c.Peer, c.From), c.From == AnySource
	case waitsForRoot, rootWaitsForAll:
		if c.Peer != c.Communicator.Rank {
			return w.absentRoot(c), false
		}
	case waitsForJob:
		c.Communicator = w.world(i)
	}
	if c.Communicator.ID == 0 || !f.isCollective() && f.kind != waitsForJob {
		return nil, false
	}
	return w.absent(c, meetings), false
}

// numbers returns the ranks in the world of members of the call's communicator. What is no member is left out.
func (w *waits) numbers(c Call, members ...int) (ranks []int) {
	for _, member := range members {
		if i, known := w.members[c.Communicator.ID][member]; known && c.Communicator.ID != 0 {
			ranks = union(ranks, []int{w.ranks[i].Rank})
		}
	}
	return ranks
}

// absentRoot returns the root of a collective operation if it has not come to it.
func (w *waits) absentRoot(c Call) []int {
	if i, known := w.members[c.Communicator.ID][c.Peer]; known && w.hasCome(i, c) {
		return nil
	}
	return w.numbers(c, c.Peer)
}

// absent returns the members that have not come to a collective operation.
func (w *waits) absent(c Call, meetings map[meeting][]int) []int {
	at := meeting{c.Communicator.ID, functionOf(c.Function).operation(), c.Peer}
	if ranks, known := meetings[at]; known {
		return ranks
	}
	var ranks []int
	for _, i := range w.members[c.Communicator.ID] {
		if !w.hasCome(i, c) {
			ranks = append(ranks, w.ranks[i].Rank)
		}
	}
	slices.Sort(ranks)
	meetings[at] = ranks
	return ranks
}

// hasCome reports whether a rank is in the same collective operation.
func (w *waits) hasCome(i int, c Call) bool {
	r := w.ranks[i]
	return !r.Ended && slices.ContainsFunc(r.Calls, func(other Call) bool { return other.joins(c) })
}
