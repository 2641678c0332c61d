// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// Contexts of messages, whose tag is the group: the faces that lie across y and across z.
const (
	acrossY = iota + 1
	acrossZ
	fluxes // of a rank's block
)

// A grid deals out the cells of a box to ranks, along y and z.
type grid struct{ ys, zs int }

// gridOf makes one of so many ranks, as square as can be.
func gridOf(ranks int) grid {
	g := grid{1, ranks}
	for ys := 2; ys*ys <= ranks; ys++ {
		if ranks%ys == 0 {
			g = grid{ys, ranks / ys}
		}
	}
	return g
}

// block returns a rank's.
func (g grid) block(p *problem, rank int) block {
	share := func(n, i, of int) span { return span{n * i / of, n * (i + 1) / of} }
	return block{share(p.ny, rank/g.zs, g.ys), share(p.nz, rank%g.zs, g.zs)}
}

// neighbours returns the ranks from whom an octant's faces come, and those to whom they go; -1 at the box's border.
func (g grid) neighbours(rank, octant int) (from, to [2]int) {
	step := func(i, of, stride int, down bool) (from, to int) {
		below, above := -1, -1
		if i > 0 {
			below = rank - stride
		}
		if i < of-1 {
			above = rank + stride
		}
		if down {
			return above, below
		}
		return below, above
	}
	from[0], to[0] = step(rank/g.zs, g.ys, g.zs, octant&2 != 0)
	from[1], to[1] = step(rank%g.zs, g.zs, 1, octant&4 != 0)
	return from, to
}

// A sweeper is a thread, which has some of the groups of its port's block.
type sweeper struct {
	*problem
	m      *crew.Member
	grid   grid
	block  block
	groups []int
	faces  faces
	sent   [2]engine.Request // of faces on their way
	copies [2][]float64      // and these
}

// solve does this thread's part of all iterations.
func (p *problem) solve(m *crew.Member, g grid, mates int) error {
	s := &sweeper{problem: p, m: m, grid: g, block: g.block(p, m.Rank)}
	for group := m.Mate; group < p.groups; group += mates {
		s.groups = append(s.groups, group)
	}
	s.faces = p.newFaces(s.block)
	s.copies = [2][]float64{make([]float64, len(s.faces.y)), make([]float64, len(s.faces.z))}
	for range p.iterations {
		if err := m.Meet(); err != nil { // a group's source has the group above in it
			return err
		}
		p.turn(s.groups, s.block)
		if err := m.Meet(); err != nil {
			return err
		}
		for _, group := range s.groups {
			for octant := range octants {
				if err := s.octant(octant, group); err != nil {
					return err
				}
			}
		}
	}
	if err := engine.WaitAll(s.sent[:], nil); err != nil {
		return err
	}
	if err := m.Meet(); err != nil { // the flux of this rank stands
		return err
	}
	return s.gather()
}

// gather gives the flux of all blocks to rank 0, which may be of another process.
func (s *sweeper) gather() error {
	if s.m.Mate != 0 {
		return nil
	}
	if s.m.Rank != 0 {
		var values []float64
		s.rows(s.block, func(row []float64) { values = append(values, row...) })
		return crew.Send(s.m, fluxes, 0, 0, values)
	}
	for rank := 1; rank < s.m.Size; rank++ {
		b := s.grid.block(s.problem, rank)
		values := make([]float64, len(s.flux)*s.nx*b.y.size()*b.z.size())
		if _, _, err := crew.Receive(s.m, fluxes, rank, 0, values); err != nil {
			return err
		}
		s.rows(b, func(row []float64) { values = values[copy(row, values):] })
	}
	return nil
}

// octant sweeps one: chunk by chunk, faces come from two neighbours and go to two others.
func (s *sweeper) octant(octant, group int) error {
	from, to := s.grid.neighbours(s.m.Rank, octant)
	clear(s.faces.x)
	for _, xs := range s.chunks(octant) {
		through := [2][]float64{
			s.faces.y[:xs.size()*s.block.z.size()*s.angles],
			s.faces.z[:xs.size()*s.block.y.size()*s.angles],
		}
		for axis := range through {
			if err := s.receive(axis, from[axis], group, through[axis]); err != nil {
				return err
			}
		}
		s.sweep(s.block, octant, group, xs, s.faces)
		for axis := range through {
			if err := s.send(axis, to[axis], group, through[axis]); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive receives a face; nothing enters at the border.
func (s *sweeper) receive(axis, from, group int, face []float64) error {
	if from < 0 {
		clear(face)
		return nil
	}
	came, _, err := crew.Receive(s.m, uint32(acrossY+axis), from, group, face)
	if err == nil && len(came) != len(face) {
		err = fmt.Errorf("rank %d: a face of %d values came, not %d", s.m.Rank, len(came), len(face))
	}
	return err
}

// send starts to send a copy of a face.
func (s *sweeper) send(axis, to, group int, face []float64) (err error) {
	if to < 0 {
		return nil
	}
	if _, err := s.sent[axis].Wait(); err != nil {
		return fmt.Errorf("rank %d: send a face: %w", s.m.Rank, err)
	}
	out := s.copies[axis][:copy(s.copies[axis], face)]
	s.sent[axis], err = s.m.Port.Isend(crew.Bytes(out), engine.Envelope{Context: uint32(acrossY + axis), Peer: int32(to), Tag: int32(group)})
	return err
}
