// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// buffers are for finds that come in, for each thread that receives and each of two levels.
const buffers = 4

// search searches from all roots, checks the trees, and returns the harmonic mean of the edges
// traversed per second, and how many levels the deepest tree has.
func (j job) search() (rate float64, levels int64, err error) {
	edges, vertices := kronecker(j.scale, j.seed), 1<<j.scale
	whole := partOf(edges, vertices, 0, 1)
	roots := rootsOf(whole, j.roots, j.seed)
	parts := make([]*part, j.Ranks)
	for rank := range parts {
		parts[rank] = partOf(edges, vertices, rank, j.Ranks)
	}
	searches := make([][]*search, len(roots)) // by root and rank
	for i := range searches {
		for _, p := range parts {
			searches[i] = append(searches[i], newSearch(p, j.form, max(j.Mates, 1)))
		}
	}
	times, err := j.searchAll(roots, searches)
	if err != nil {
		return 0, 0, err
	}
	var seconds float64 // per edge, summed up
	for i, root := range roots {
		want := serial(whole, root)
		traversed, err := validate(edges, root, gather(searches[i], vertices), want)
		if err != nil {
			return 0, 0, fmt.Errorf("root %d: %w", root, err)
		}
		levels = max(levels, slices.Max(want)+1)
		seconds += times[i].Seconds() / float64(traversed)
	}
	return float64(len(roots)) / seconds, levels, nil
}

// searchAll runs the searches, and returns how long each took.
func (j job) searchAll(roots []uint32, searches [][]*search) (times []time.Duration, err error) {
	times = make([]time.Duration, len(roots))
	return times, crew.Run(j.Options, func(m *crew.Member) error {
		count := buffers
		if j.form == receivers && m.Mate == 0 {
			count = 0
		}
		b, err := newMail(m, count)
		if err != nil {
			return err
		}
		for i, root := range roots {
			if m.Mate == 0 {
				if err := m.Sum(nil); err != nil { // all begin together
					return err
				}
			}
			begin := time.Now()
			if err := searches[i][m.Rank].run(m, b, root); err != nil {
				return err
			}
			if m.Rank == 0 && m.Mate == 0 {
				times[i] = time.Since(begin)
			}
		}
		return nil
	})
}

// rootsOf chooses vertices that have neighbours.
func rootsOf(p *part, count int, seed uint64) (roots []uint32) {
	random := rand.New(rand.NewPCG(seed, 0))
	for len(roots) < count {
		if v := random.IntN(p.vertices()); len(p.of(v)) > 0 {
			roots = append(roots, uint32(v))
		}
	}
	return roots
}

// gather puts the ranks' parents together.
func gather(ranks []*search, vertices int) []int64 {
	parents := make([]int64, vertices)
	for v := range parents {
		owner, index := ranks[0].owner(uint32(v))
		parents[v] = ranks[owner].parents[index]
	}
	return parents
}
