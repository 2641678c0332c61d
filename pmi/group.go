// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// worldBarrier is the barrier of everybody, as cmd=barrier_in without a group enters it.
const worldBarrier = "WORLD:0"

// Ranks is a sorted list of ranks.
type Ranks []int

// AllRanks lists the ranks of a world.
func AllRanks(size int) Ranks {
	ranks := make(Ranks, size)
	for i := range ranks {
		ranks[i] = i
	}
	return ranks
}

func (r Ranks) holds(rank int) bool {
	_, found := slices.BinarySearch(r, rank)
	return found
}

// A Group is who meets in a barrier. A barrier is written GROUP:TAG, where GROUP is WORLD, NODE (the ranks of one host) or
// a list of ranks. The whole text names the barrier, so that several of a group may be open at once.
type Group struct {
	World, Node bool
	Listed      Ranks
	Tag         string
}

var errGroup = errors.New("group is not WORLD, NODE or a list of ranks")

// ParseGroup reads the name of a barrier.
func ParseGroup(barrier string) (Group, error) {
	who, tag, _ := strings.Cut(barrier, ":")
	g := Group{World: who == "WORLD", Node: who == "NODE", Tag: tag}
	if g.World || g.Node {
		return g, nil
	}
	for item := range strings.SplitSeq(who, ",") {
		rank, err := strconv.Atoi(item)
		if err != nil || rank < 0 {
			return Group{}, fmt.Errorf("barrier %s: %w", quote(barrier), errGroup)
		}
		g.Listed = append(g.Listed, rank)
	}
	slices.Sort(g.Listed)
	g.Listed = slices.Compact(g.Listed)
	return g, nil
}

// count returns how many of the group's ranks are among those below, and how many there are in all.
func (g Group) count(below Ranks, size int) (here, all int) {
	switch {
	case g.World:
		return len(below), size
	case g.Node:
		return len(below), len(below)
	}
	for _, rank := range g.Listed {
		if below.holds(rank) {
			here++
		}
	}
	return here, len(g.Listed)
}

// admits reports whether the rank of a world of that size may enter.
func (g Group) admits(rank, size int) bool {
	return g.World || g.Node || g.Listed.holds(rank) && g.Listed[len(g.Listed)-1] < size
}
