// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"slices"
	"time"

	"github.com/tpsl/tpsl/calls"
	"github.com/tpsl/tpsl/internal/ranges"
)

// A Told is what one rank has counted.
type Told struct {
	Group  int
	Counts calls.Counts
	Places []calls.Place // of each row
	// Ahead is how far the clock of the rank's host is ahead of that of the first host, at a time by the former.
	Ahead func(time.Duration) time.Duration
}

// Collect fills in what ranks have counted. ranks are all of the job, of which Group, Rank, Host and Process are known, by group and rank.
func Collect(p *Profile, ranks []Rank, told []Told) {
	c := collector{profile: p, ranks: map[[2]int]int{}, places: map[calls.Place]int{}, communicators: map[communicatorKey]int{}}
	p.Format, p.Ranks = Format, ranks
	for i, r := range ranks {
		c.ranks[[2]int{r.Group, r.Rank}] = i
	}
	slices.SortFunc(told, func(a, b Told) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Counts.Rank, b.Counts.Rank))
	})
	for _, t := range told {
		if i, found := c.ranks[[2]int{t.Group, t.Counts.Rank}]; found {
			c.add(i, t)
		}
	}
	for i, members := range c.members {
		slices.Sort(members)
		p.Communicators[i].Members = ranges.Format(members)
	}
	c.tellLate()
}

// A collector puts together what ranks have told.
type collector struct {
	profile       *Profile
	ranks         map[[2]int]int // index by group and rank
	places        map[calls.Place]int
	communicators map[communicatorKey]int
	members       [][]int // of each communicator
	entries       []entry
}

// A communicatorKey tells communicators apart. Those without an ID are told apart by what is known of them.
type communicatorKey struct {
	group int
	id    uint64
	name  string
	size  int
}

// An entry is when a rank has come to calls, in the mean: an absolute time.
type entry struct {
	rank, row int
	at        time.Duration
}

func (c *collector) add(index int, t Told) {
	r := &c.profile.Ranks[index]
	counts := t.Counts
	r.Counted, r.Ended = true, counts.Finalized
	r.Elapsed, r.MPI = (counts.Last - counts.Began).Seconds(), counts.Inside.Seconds()
	if c.profile.Job.Library == "" {
		c.profile.Job.Library = counts.Library
	}
	groups := make([]int, len(counts.Groups))
	for i, g := range counts.Groups {
		groups[i] = Other
		if i > 0 {
			groups[i] = c.communicator(t.Group, index, g)
		}
		if g.ToAll.Count > 0 && i > 0 {
			r.Spread = append(r.Spread, Spread{groups[i], Amount{int64(g.ToAll.Count), int64(g.ToAll.Bytes)}})
		}
	}
	for i, row := range counts.Rows {
		r.Calls = append(r.Calls, Calls{
			Function: row.Function, Place: c.place(row, t.Places[i]), Communicator: indexIn(row.Group, groups), Calls: int64(row.Calls), Bytes: int64(row.Bytes),
			Time: row.Time.Seconds(), Min: row.Shortest.Seconds(), Max: row.Longest.Seconds(),
		})
		at := counts.Began + row.Entered
		c.entries = append(c.entries, entry{index, len(r.Calls) - 1, at - t.Ahead(at)})
	}
	for _, peer := range counts.Peers {
		r.Peers = append(r.Peers, c.peer(t.Group, peer))
	}
	for _, size := range counts.Sizes {
		from := int64(0)
		if size.Class > 0 {
			from = 1 << (size.Class - 1)
		}
		r.Sizes = append(r.Sizes, Size{Way: ways[size.Way], From: from, Count: int64(size.Count), Bytes: int64(size.Bytes)})
	}
}

var ways = map[calls.Way]Way{calls.Messages: Messages, calls.OneSided: OneSided, calls.Collective: Collective}

// indexIn returns a row's group as an index of the profile's communicators.
func indexIn(group int, groups []int) int {
	switch {
	case group == calls.NotInTable:
		return Other
	case group < 0 || group >= len(groups):
		return None
	}
	return groups[group]
}

func (c *collector) communicator(group, rank int, g calls.Group) int {
	key := communicatorKey{group: group, id: g.ID}
	if g.ID == 0 {
		key.name, key.size = g.Name, g.Size
	}
	i, found := c.communicators[key]
	if !found {
		i = len(c.profile.Communicators)
		c.communicators[key] = i
		c.profile.Communicators = append(c.profile.Communicators, Communicator{Name: g.Name, Size: g.Size})
		c.members = append(c.members, nil)
	}
	if n := len(c.members[i]); n == 0 || c.members[i][n-1] != rank {
		c.members[i] = append(c.members[i], rank)
	}
	return i
}

func (c *collector) place(row calls.Row, at calls.Place) int {
	if row.Function == "" {
		return Other
	}
	i, found := c.places[at]
	if !found {
		i = len(c.profile.Places)
		c.places[at] = i
		c.profile.Places = append(c.profile.Places, Place(at))
	}
	return i
}

func (c *collector) peer(group int, told calls.Peer) Peer {
	p := Peer{Rank: Other}
	if i, found := c.ranks[[2]int{group, told.Rank}]; found && told.Rank >= 0 {
		p.Rank = i
	}
	of := func(a calls.Amount) Amount { return Amount{int64(a.Count), int64(a.Bytes)} }
	p.Sent, p.Put, p.Collective = of(told.To[calls.Messages]), of(told.To[calls.OneSided]), of(told.To[calls.Collective])
	p.Received, p.Got = of(told.From[calls.Messages]), of(told.From[calls.OneSided])
	return p
}

// A meeting is where all members of a communicator come together.
type meeting struct {
	function            string
	place, communicator int
}

// tellLate says how late ranks have come to the collective operations that all members have called equally often from one place.
func (c *collector) tellLate() {
	meetings := map[meeting][]entry{}
	for _, e := range c.entries {
		row := c.profile.Ranks[e.rank].Calls[e.row]
		if row.Communicator >= 0 && calls.IsCollective(row.Function) {
			m := meeting{row.Function, row.Place, row.Communicator}
			meetings[m] = append(meetings[m], e)
		}
	}
	for m, entries := range meetings {
		if len(entries) != c.profile.Communicators[m.communicator].Size || !c.equallyOften(entries) {
			continue
		}
		var mean time.Duration
		for _, e := range entries {
			mean += (e.at - entries[0].at) / time.Duration(len(entries))
		}
		for _, e := range entries {
			late := (e.at - entries[0].at - mean).Seconds()
			c.profile.Ranks[e.rank].Calls[e.row].Late = &late
		}
	}
}

func (c *collector) equallyOften(entries []entry) bool {
	of := func(e entry) int64 { return c.profile.Ranks[e.rank].Calls[e.row].Calls }
	return !slices.ContainsFunc(entries, func(e entry) bool { return of(e) != of(entries[0]) })
}
