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

// search searches from all roots, and where rank 0 is checks the trees, and returns the harmonic mean of
// the edges traversed per second, and how many levels the deepest tree has.
func (j job) search() (is crew.Outcome, rate float64, levels int64, err error) {
	edges, vertices := kronecker(j.scale, j.seed), 1<<j.scale
	whole := partOf(edges, vertices, 0, 1)
	roots := rootsOf(whole, j.roots, j.seed)
	found := make([]tree, len(roots))
	is, err = j.searchAll(edges, vertices, roots, found)
	if err != nil || !is.Leads {
		return is, 0, 0, err
	}
	var seconds float64 // per edge, summed up
	for i, root := range roots {
		want := serial(whole, root)
		traversed, err := validate(edges, root, found[i].parents, want)
		if err != nil {
			return is, 0, 0, fmt.Errorf("root %d: %w", root, err)
		}
		levels = max(levels, slices.Max(want)+1)
		seconds += found[i].took.Seconds() / float64(traversed)
	}
	return is, float64(len(roots)) / seconds, levels, nil
}

// A tree is what a search has found.
type tree struct {
	parents []int64
	took    time.Duration
}

// searchAll runs the searches, and gives what they find to rank 0.
func (j job) searchAll(edges []edge, vertices int, roots []uint32, found []tree) (crew.Outcome, error) {
	parts := make([]*part, j.Ranks) // of the ranks of this process
	searches := make([]*search, j.Ranks)
	return crew.Run(j.Options, func(m *crew.Member) error {
		here := m.Rank % j.Ranks // each process has as many
		if m.Mate == 0 {
			parts[here] = partOf(edges, vertices, m.Rank, m.Size)
		}
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
				searches[here] = newSearch(parts[here], j.form, max(j.Mates, 1))
				if err := m.Sum(nil); err != nil { // all begin together
					return err
				}
			}
			if err := m.Meet(); err != nil { // the search stands
				return err
			}
			begin := time.Now()
			s := searches[here]
			if err := s.run(m, b, root); err != nil {
				return err
			}
			took := time.Since(begin)
			if m.Mate == 0 {
				if err := s.gather(m, vertices, &found[i]); err != nil {
					return err
				}
				if m.Rank == 0 {
					found[i].took = took
				}
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

// gather puts the ranks' parents together, at rank 0.
func (s *search) gather(m *crew.Member, vertices int, found *tree) error {
	if m.Rank != 0 {
		return crew.Send(m, results, 0, 0, s.parents)
	}
	found.parents = make([]int64, vertices)
	for rank := range m.Size {
		part := s.parents
		if rank != 0 {
			var err error
			if part, _, err = crew.Receive(m, results, rank, 0, make([]int64, vertices)); err != nil {
				return err
			}
		}
		for i, parent := range part {
			found.parents[i*m.Size+rank] = parent
		}
	}
	return nil
}
