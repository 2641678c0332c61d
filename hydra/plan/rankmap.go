// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpsl/tpsl/hydra/hosts"
)

// A rankMap says on which host each rank is, and how many ranks each segment has.
type rankMap struct {
	hosts []hosts.Host
	host  []int // of each rank, as an index in hosts
	sizes []int // ranks of each segment
	slots int   // sum over the hosts that all segments share
}

// mapRanks distributes the ranks of all segments to the hosts.
func mapRanks(r Request, s Site) (rankMap, error) {
	list := s.Hosts
	if len(list) == 0 && slices.ContainsFunc(r.Segments, func(segment Segment) bool { return segment.Hosts == "" }) {
		list = []hosts.Host{{Name: s.Host, Slots: 1}}
	}
	list, err := orderHosts(list, r.Hosts, s)
	if err != nil {
		return rankMap{}, err
	}
	m := rankMap{hosts: list}
	common := &dealer{}
	for i, h := range list {
		common.turns = append(common.turns, turn{i, h.Slots})
	}
	m.slots = common.slots()
	for _, segment := range r.Segments {
		dealer := common
		if segment.Hosts != "" {
			if dealer, err = m.ownHosts(segment, r.Hosts, s); err != nil {
				return rankMap{}, err
			}
		}
		if err := m.add(segment, dealer); err != nil {
			return rankMap{}, err
		}
	}
	if r.Hosts.RankMap != "" {
		if err := m.follow(r.Hosts.RankMap); err != nil {
			return rankMap{}, err
		}
	}
	m.dropIdle()
	return m, nil
}

// add places the ranks of a segment.
func (m *rankMap) add(segment Segment, dealer *dealer) error {
	size := segment.Ranks
	if size == 0 {
		size = dealer.slots()
	}
	if len(m.host)+size > MaxRanks {
		return fmt.Errorf("the job has more than %d ranks; give -n", MaxRanks)
	}
	for range size {
		m.host = append(m.host, dealer.next())
	}
	m.sizes = append(m.sizes, size)
	return nil
}

// orderHosts applies the options that change the host list.
func orderHosts(list []hosts.Host, opts HostOptions, s Site) ([]hosts.Host, error) {
	list = slices.Clone(list)
	if opts.SkipLaunchNode && len(list) > 0 {
		list = slices.DeleteFunc(list, func(h hosts.Host) bool { return s.isHere(h.Name) })
		if len(list) == 0 {
			return nil, fmt.Errorf("-skip-launch-node leaves no host: %s is the only one", s.Host)
		}
	}
	if opts.PPN > 0 {
		for i := range list {
			list[i].Slots = opts.PPN
		}
	}
	bySlots := func(a, b hosts.Host) int { return cmp.Compare(a.Slots, b.Slots) }
	switch opts.Order {
	case "up":
		slices.SortStableFunc(list, bySlots)
	case "down":
		slices.SortStableFunc(list, func(a, b hosts.Host) int { return bySlots(b, a) })
	}
	return list, nil
}

// ownHosts returns a dealer for the hosts that a segment names itself. New hosts are added to the list.
func (m *rankMap) ownHosts(segment Segment, opts HostOptions, s Site) (*dealer, error) {
	list, err := hosts.ParseList(segment.Hosts)
	if err == nil {
		list, err = orderHosts(list, opts, s)
	}
	if err != nil {
		return nil, fmt.Errorf("hosts of %s: %w", segment.Args[0], err)
	}
	known := map[string]int{}
	for i, h := range m.hosts {
		known[h.Name] = i
	}
	own := &dealer{}
	for _, h := range list {
		at, found := known[h.Name]
		if !found {
			at = len(m.hosts)
			m.hosts = append(m.hosts, h)
		}
		own.turns = append(own.turns, turn{at, h.Slots})
	}
	return own, nil
}

// follow places the ranks by the user's rank map. This is a list of host numbers, or a vector that is repeated until all ranks have
// a host.
func (m *rankMap) follow(text string) error {
	list, err := parseRankMap(text, len(m.host))
	if err == nil && len(list) != len(m.host) {
		err = fmt.Errorf("it places %d ranks, the job has %d", len(list), len(m.host))
	}
	if err == nil && slices.Max(list) >= len(m.hosts) {
		err = fmt.Errorf("there is no host %d: hosts are 0 to %d, in the order of the host list", slices.Max(list), len(m.hosts)-1)
	}
	if err != nil {
		return fmt.Errorf("option -rankmap: %w", err)
	}
	m.host = list
	return nil
}

// parseRankMap reads the host number of each rank: 0,1,1,0 or (vector,(FIRST,HOSTS,RANKS),...). It repeats a vector until there
// are enough numbers for this number of ranks.
func parseRankMap(text string, ranks int) ([]int, error) {
	compact := strings.ReplaceAll(text, " ", "")
	body, isVector := strings.CutPrefix(compact, "(vector,")
	if !isVector {
		return parseNumbers(compact)
	}
	body, closed := strings.CutSuffix(body, "))")
	if !closed || !strings.HasPrefix(body, "(") {
		return nil, errRankMap
	}
	var list []int
	for len(list) < ranks {
		for triplet := range strings.SplitSeq(body[1:], "),(") {
			n, err := parseNumbers(triplet)
			if err != nil || len(n) != 3 || n[1] == 0 || n[2] == 0 {
				return nil, errRankMap
			}
			for i := range min(n[1]*n[2], ranks-len(list)) {
				list = append(list, n[0]+i/n[2])
			}
		}
	}
	return list, nil
}

var errRankMap = errors.New("expected host numbers such as 0,1,1,0, or (vector,(FIRST,HOSTS,RANKS),...)")

func parseNumbers(text string) ([]int, error) {
	var numbers []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > MaxRanks {
			return nil, errRankMap
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// RankMap says which ranks each host has, in one line for each host.
func (p Plan) RankMap() string {
	var b strings.Builder
	for _, host := range p.Hosts {
		fmt.Fprintf(&b, "%s: %s\n", host.Name, RankNames(host.LocalRanks()))
	}
	return b.String()
}

// A dealer distributes ranks to hosts. Each host takes as many ranks as it has slots, and then it is the next host's turn. After
// the last host it is the first host's turn again.
type dealer struct {
	turns []turn
	at    int
	taken int // ranks that the host at this turn has taken
}

type turn struct{ host, slots int }

// next returns the host of the next rank.
func (d *dealer) next() int {
	if d.taken == d.turns[d.at].slots {
		d.at, d.taken = (d.at+1)%len(d.turns), 0
	}
	d.taken++
	return d.turns[d.at].host
}

func (d *dealer) slots() int {
	sum := 0
	for _, t := range d.turns {
		sum = min(sum+t.slots, MaxRanks+1)
	}
	return sum
}

// dropIdle removes hosts without ranks, and renumbers the others in the order of the list.
func (m *rankMap) dropIdle() {
	busy := make([]bool, len(m.hosts))
	for _, host := range m.host {
		busy[host] = true
	}
	number := make([]int, len(m.hosts))
	var kept []hosts.Host
	for i, h := range m.hosts {
		if number[i] = len(kept); busy[i] {
			kept = append(kept, h)
		}
	}
	for rank, host := range m.host {
		m.host[rank] = number[host]
	}
	m.hosts = kept
}

// A part is the ranks of one segment on one host.
type part struct {
	segment int
	ranks   []int
}

// perHost returns the parts of each host, in the order of their ranks.
func (m rankMap) perHost() [][]part {
	all := make([][]part, len(m.hosts))
	rank := 0
	for segment, size := range m.sizes {
		for range size {
			parts := &all[m.host[rank]]
			if n := len(*parts); n == 0 || (*parts)[n-1].segment != segment {
				*parts = append(*parts, part{segment: segment})
			}
			last := &(*parts)[len(*parts)-1]
			last.ranks = append(last.ranks, rank)
			rank++
		}
	}
	return all
}
