// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// A problem is particle transport in a box of nx*ny*nz cells, with the particles' directions cut into angles of eight
// octants and their energies into groups. Each iteration sweeps all octants: a cell's flux follows from what enters through
// the three faces towards the direction's origin, and leaves through the other three (diamond differences).
type problem struct {
	nx, ny, nz     int
	angles, groups int // angles of an octant
	chunk          int // cells along x that are swept before the faces are passed on
	iterations     int

	direction [][3]float64 // of each angle: what a face's flux weighs
	weight    []float64    // of each angle
	flux      [][]float64  // by group and cell: of this iteration
	before    [][]float64  // and of the one before
}

const (
	octants = 8
	total   = 1.0 // cross section
	scatter = 0.4 // of a group into itself
	slowing = 0.2 // into the group below
	width   = 0.5 // of a cell
)

// prepare makes the angles and the fluxes.
func (p *problem) prepare() {
	for a := range p.angles {
		mu := (float64(a) + 0.5) / float64(p.angles)
		p.direction = append(p.direction, [3]float64{2 * mu / width, 2 * (1 - mu) / width, 2 * (0.25 + mu/2) / width})
		p.weight = append(p.weight, 1/float64(octants*p.angles))
	}
	for range p.groups {
		p.flux = append(p.flux, make([]float64, p.nx*p.ny*p.nz))
		p.before = append(p.before, make([]float64, p.nx*p.ny*p.nz))
	}
}

// cell returns a cell's place in a flux.
func (p *problem) cell(x, y, z int) int { return (x*p.ny+y)*p.nz + z }

// source is what starts in a cell: a fixed source in a corner of the box and in the highest group, and what scatters.
func (p *problem) source(group, x, y, z int) float64 {
	at := p.cell(x, y, z)
	q := scatter * p.before[group][at]
	if group > 0 {
		q += slowing * p.before[group-1][at]
	} else if x < (p.nx+1)/2 && y < (p.ny+1)/2 {
		q++
	}
	return q
}

// A span is a range of cells along an axis, an octant's way through it upwards or downwards.
type span struct{ from, to int }

func (s span) size() int { return s.to - s.from }

// at returns the i-th cell on the way.
func (s span) at(i int, down bool) int {
	if down {
		return s.to - 1 - i
	}
	return s.from + i
}

// A block are the cells of a rank, which has all of x.
type block struct{ y, z span }

// faces are the fluxes through the faces that a sweep has come to: for each angle, and each cell of the face in
// the order of the way.
type faces struct{ x, y, z []float64 }

// newFaces makes room for those of a block's chunk.
func (p *problem) newFaces(b block) faces {
	return faces{
		x: make([]float64, b.y.size()*b.z.size()*p.angles),
		y: make([]float64, p.chunk*b.z.size()*p.angles),
		z: make([]float64, p.chunk*b.y.size()*p.angles),
	}
}

// sweep sweeps a chunk of a block: xs are its cells along x.
func (p *problem) sweep(b block, octant, group int, xs span, f faces) {
	downX, downY, downZ := octant&1 != 0, octant&2 != 0, octant&4 != 0
	ny, nz, n := b.y.size(), b.z.size(), p.angles
	for i := range xs.size() {
		for j := range ny {
			for k := range nz {
				x, y, z := xs.at(i, downX), b.y.at(j, downY), b.z.at(k, downZ)
				q, phi := p.source(group, x, y, z), &p.flux[group][p.cell(x, y, z)]
				inX, inY, inZ := f.x[(j*nz+k)*n:][:n], f.y[(i*nz+k)*n:][:n], f.z[(i*ny+j)*n:][:n]
				for a := range n {
					d := &p.direction[a]
					psi := (q + d[0]*inX[a] + d[1]*inY[a] + d[2]*inZ[a]) / (total + d[0] + d[1] + d[2])
					inX[a], inY[a], inZ[a] = 2*psi-inX[a], 2*psi-inY[a], 2*psi-inZ[a]
					*phi += p.weight[a] * psi
				}
			}
		}
	}
}

// chunks returns the chunks along x in the octant's order.
func (p *problem) chunks(octant int) (all []span) {
	for from := 0; from < p.nx; from += p.chunk {
		all = append(all, span{from, min(p.nx, from+p.chunk)})
	}
	if octant&1 != 0 {
		slices.Reverse(all)
	}
	return all
}

// turn makes the flux of this iteration that of the one before.
func (p *problem) turn(groups []int, b block) {
	for _, g := range groups {
		for x := range p.nx {
			for y := b.y.from; y < b.y.to; y++ {
				row := p.cell(x, y, b.z.from)
				copy(p.before[g][row:], p.flux[g][row:row+b.z.size()])
				clear(p.flux[g][row : row+b.z.size()])
			}
		}
	}
}

// rows calls f for each row along z of a block's flux.
func (p *problem) rows(b block, f func(row []float64)) {
	for _, flux := range p.flux {
		for x := range p.nx {
			for y := b.y.from; y < b.y.to; y++ {
				f(flux[p.cell(x, y, b.z.from):][:b.z.size()])
			}
		}
	}
}

// serial solves on one thread: the box is one block and one chunk.
func (p problem) serial() [][]float64 {
	p.chunk, p.flux, p.before = p.nx, nil, nil
	p.direction, p.weight = nil, nil
	p.prepare()
	whole := block{span{0, p.ny}, span{0, p.nz}}
	var groups []int
	for g := range p.groups {
		groups = append(groups, g)
	}
	for range p.iterations {
		p.turn(groups, whole)
		for g := range p.groups {
			for octant := range octants {
				p.sweep(whole, octant, g, span{0, p.nx}, p.newFaces(whole))
			}
		}
	}
	return p.flux
}
