// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/ranges"
)

// worldID is the ID of every world's MPI_COMM_WORLD, as front/calls.c gives it.
const worldID = 1

// Explain says why the ranks of one world wait, in lines that each stand for themselves. It says "deadlock" only if the calls prove
// that some ranks wait for each other, or for ranks that have ended. Then no rank of these can go on, whatever the others do. Messages
// that are on their way are not seen; a call counts only if it is settled.
func Explain(ranks []Rank) []string {
	w := newWaits(ranks)
	w.findDead()
	var lines []string
	if len(w.dead) > 0 {
		lines = append(lines, w.deadlock())
	}
	lines = append(lines, w.missing()...)
	if len(w.dead) == 0 && w.allWait() {
		lines = append(lines, "possible deadlock: every rank waits in an MPI call, but the calls do not say for whom all of them wait")
	}
	return lines
}

// waits are the calls of the ranks of a world, by who waits for whom.
type waits struct {
	ranks   []Rank
	members map[uint64]map[int]int // index of a rank, by the communicator's ID and the rank in it
	dead    map[int]bool           // indices of ranks of which it is proven, in the end, that they cannot go on
}

func newWaits(ranks []Rank) *waits {
	w := &waits{ranks: ranks, members: map[uint64]map[int]int{}, dead: map[int]bool{}}
	for i, r := range ranks {
		for _, c := range r.Communicators {
			if w.members[c.ID] == nil {
				w.members[c.ID] = map[int]int{}
			}
			w.members[c.ID][c.Rank] = i
		}
	}
	return w
}

// call returns the only call that a rank is in.
func (w *waits) call(i int) (Call, bool) {
	r := w.ranks[i]
	if r.Ended || r.Multiple || len(r.Calls) != 1 {
		return Call{}, false
	}
	return r.Calls[0], true
}

// findDead takes all ranks in settled calls for dead at first, and then clears those that could be served by what is left.
func (w *waits) findDead() {
	for i := range w.ranks {
		if c, only := w.call(i); only && c.Settled {
			w.dead[i] = true
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range w.dead {
			if len(w.reasons(i)) == 0 {
				delete(w.dead, i)
				changed = true
			}
		}
	}
}

// never reports whether a rank never does what another one waits for: it has ended, or it is dead in a call that does not serve.
func (w *waits) never(i int, serves func(Call) bool) bool {
	if w.ranks[i].Ended {
		return true
	}
	c, _ := w.call(i)
	return w.dead[i] && !serves(c)
}

// reasons returns the ranks that a rank waits for and that never come. It is empty if the rank may go on.
func (w *waits) reasons(i int) []int {
	c, _ := w.call(i)
	f := functionOf(c.Function)
	if f.kind == waitsForJob {
		c.Communicator = w.world(i)
	}
	own := c.Communicator.Rank
	switch f.kind {
	case waitsForReceiver:
		return w.peer(c, c.Peer, func(other Call) bool { return other.receives(c, own, c.Tag) })
	case waitsForSender:
		return w.sender(c, own, c.Peer, c.Tag)
	case waitsForBoth:
		return w.both(c, own)
	case waitsForAll, waitsForJob:
		return w.some(c, own, false)
	case waitsForRoot:
		if c.Peer == own {
			return w.some(c, own, true)
		}
		return w.peer(c, c.Peer, func(other Call) bool { return other.joins(c) })
	case rootWaitsForAll:
		return w.some(c, own, c.Peer != own)
	case waitsForSome:
		return w.some(c, own, true)
	}
	return nil
}

func (w *waits) world(i int) Communicator {
	at := slices.IndexFunc(w.ranks[i].Communicators, func(c Communicator) bool { return c.ID == worldID })
	if at < 0 {
		return Communicator{}
	}
	return w.ranks[i].Communicators[at]
}

// peer returns the member that a call waits for, if it never serves.
func (w *waits) peer(c Call, peer int, serves func(Call) bool) []int {
	i, known := w.members[c.Communicator.ID][peer]
	if c.Communicator.ID != 0 && known && w.never(i, serves) {
		return []int{i}
	}
	return nil
}

// sender returns those that a call waits for to receive from, if none of them ever sends.
func (w *waits) sender(c Call, own, source, tag int) []int {
	sends := func(other Call) bool { return other.sends(c, own, tag) }
	if source != AnySource {
		return w.peer(c, source, sends)
	}
	return w.others(c, own, true, sends)
}

// both is about a call that sends and receives. It is not known which of the two it still waits for, so both must be impossible.
func (w *waits) both(c Call, own int) []int {
	receives := func(other Call) bool { return other.receives(c, own, c.Tag) }
	to, from := w.peer(c, c.Peer, receives), w.sender(c, own, c.From, c.FromTag)
	switch {
	case c.Peer == NoProcess:
		return from
	case c.From == NoProcess:
		return to
	case len(to) == 0 || len(from) == 0:
		return nil
	}
	return slices.Compact(append(to, from...))
}

// some returns members that never join a collective operation: one that is missed, or all others if all have to be missing.
func (w *waits) some(c Call, own int, all bool) []int {
	return w.others(c, own, all, func(other Call) bool { return other.joins(c) })
}

// others returns members other than `own` that never serve. If all have to be such, one that may serve or is not known makes it empty.
func (w *waits) others(c Call, own int, all bool, serves func(Call) bool) (found []int) {
	if c.Communicator.ID == 0 {
		return nil
	}
	for member := range c.Communicator.Size {
		i, known := w.members[c.Communicator.ID][member]
		switch {
		case member == own:
		case known && w.never(i, serves):
			found = append(found, i)
		case all:
			return nil
		}
	}
	return found
}

// sends reports whether the call sends what another one wants to receive, as the member `to` of its communicator.
func (c Call) sends(wanted Call, to, tag int) bool {
	f := functionOf(c.Function)
	return (f.kind == waitsForReceiver || f.kind == waitsForBoth) && c.Communicator.ID == wanted.Communicator.ID && c.Peer == to && (tag == AnyTag || c.Tag == tag)
}

// receives reports whether the call receives what another one sends, as the member `from` of its communicator.
func (c Call) receives(sent Call, from, tag int) bool {
	source, wanted := c.Peer, c.Tag
	switch functionOf(c.Function).kind {
	case waitsForBoth:
		source, wanted = c.From, c.FromTag
	case waitsForSender:
	default:
		return false
	}
	return c.Communicator.ID == sent.Communicator.ID && (source == from || source == AnySource) && (wanted == AnyTag || wanted == tag)
}

// joins reports whether the call is the same collective operation as another one.
func (c Call) joins(other Call) bool {
	f, g := functionOf(c.Function), functionOf(other.Function)
	sameRoot := !f.isRooted() || c.Peer == other.Peer
	return f.operation() == g.operation() && (f.kind == waitsForJob || c.Communicator.ID == other.Communicator.ID) && sameRoot
}

// deadlock tells a cycle of ranks that wait for each other, or a rank that waits for one that has ended, and how many others hang on it.
func (w *waits) deadlock() string {
	var path []int
	at := slices.Sorted(maps.Keys(w.dead))[0]
	for !slices.Contains(path, at) && !w.ranks[at].Ended {
		path = append(path, at)
		reasons := w.reasons(at)
		next := reasons[0]
		for _, reason := range reasons { // back to the path, if that is possible: the cycle is short then
			if slices.Contains(path, reason) {
				next = reason
			}
		}
		at = next
	}
	if !w.ranks[at].Ended {
		path = path[slices.Index(path, at):]
	}
	told := map[int]bool{}
	var parts []string
	for _, i := range path {
		if told[i] {
			continue
		}
		c, _ := w.call(i)
		alike := w.alike(i)
		for _, other := range alike {
			told[other] = true
		}
		verb := "waits in"
		if len(alike) > 1 {
			verb = "wait in"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", w.names(alike), verb, c))
	}
	text := "deadlock: " + strings.Join(parts, ", ")
	if w.ranks[at].Ended {
		text += fmt.Sprintf(", and rank %d has ended", w.ranks[at].Rank)
	}
	var rest []int
	for i := range w.dead {
		if !told[i] {
			rest = append(rest, i)
		}
	}
	if len(rest) > 0 {
		text += fmt.Sprintf("; %s cannot go on because of that", w.names(rest))
	}
	return text
}

// alike returns the dead ranks that are in the same collective operation, or the rank alone.
func (w *waits) alike(i int) []int {
	c, _ := w.call(i)
	var same []int
	for other := range w.dead {
		if d, _ := w.call(other); d.String() == c.String() && d.Communicator.ID == c.Communicator.ID && functionOf(d.Function).isCollective() {
			same = append(same, other)
		}
	}
	if len(same) == 0 {
		return []int{i}
	}
	return same
}

// missing tells collective operations that not all members have entered, unless a deadlock tells of them.
func (w *waits) missing() (lines []string) {
	told := map[string]bool{}
	for i := range w.ranks {
		c, only := w.call(i)
		if !only || !c.Settled || w.dead[i] || c.Communicator.ID == 0 || !functionOf(c.Function).isCollective() {
			continue
		}
		if key := fmt.Sprint(c.Communicator.ID, c); !told[key] {
			told[key] = true
			if line := w.entered(c); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// entered tells which members are in a collective operation, and where the others are.
func (w *waits) entered(c Call) string {
	var in []int
	var elsewhere []string
	where := map[string][]int{}
	for member := range c.Communicator.Size {
		i, known := w.members[c.Communicator.ID][member]
		if !known {
			continue
		}
		other, only := w.call(i)
		if only && other.joins(c) {
			in = append(in, i)
			continue
		}
		text := w.ranks[i].Text()
		if where[text] == nil {
			elsewhere = append(elsewhere, text)
		}
		where[text] = append(where[text], i)
	}
	if len(where) == 0 {
		return ""
	}
	var parts []string
	for _, text := range elsewhere {
		parts = append(parts, fmt.Sprintf("%s (%s)", w.names(where[text]), text))
	}
	verb := "waits"
	if len(in) > 1 {
		verb = "wait"
	}
	return fmt.Sprintf("%s %s in %s; not there: %s", w.names(in), verb, c, strings.Join(parts, ", "))
}

// allWait reports whether all ranks that have not ended are in settled calls.
func (w *waits) allWait() bool {
	some := false
	for _, r := range w.ranks {
		settled := len(r.Calls) > 0 && !slices.ContainsFunc(r.Calls, func(c Call) bool { return !c.Settled })
		if !r.Ended && !settled {
			return false
		}
		some = some || !r.Ended
	}
	return some
}

// Text says what the rank does.
func (r Rank) Text() string {
	var texts []string
	for _, c := range r.Calls {
		text := c.String()
		if c.Place != "" {
			text += " at " + c.Place
		}
		texts = append(texts, text)
	}
	switch {
	case r.Ended:
		return "ended"
	case len(texts) > 0:
		return "in " + strings.Join(texts, " and ")
	case !r.Known:
		return "no MPI call yet"
	}
	return "outside of MPI"
}

func (w *waits) names(indices []int) string {
	var numbers []int
	for _, i := range indices {
		numbers = append(numbers, w.ranks[i].Rank)
	}
	slices.Sort(numbers)
	if len(numbers) == 1 {
		return fmt.Sprintf("rank %d", numbers[0])
	}
	return "ranks " + ranges.Format(numbers)
}
