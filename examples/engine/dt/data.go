// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import "math"

// Data are points of four coordinates, one after another.
const dim = 4

// A class is the size of a problem.
type class struct {
	samples, deviation int // points of a source: the mean, and by how much they differ at most
	width              int // of the graph
}

var classes = map[string]class{
	"S": {1728, 128, 4},
	"W": {1728 * 8, 256, 8},
	"A": {1728 * 64, 512, 16},
}

// published are the sums of NPB 3's verification.
var published = map[string]float64{
	"BH.S": 30892725, "WH.S": 67349758, "SH.S": 58875767,
	"BH.W": 4102461, "WH.W": 204280762, "SH.W": 186944764,
	"BH.A": 17809491, "WH.A": 1289925229, "SH.A": 610856482,
}

// power returns a to the n-th modulo m, with 32-bit products that wrap, as in the benchmark.
func power(a int32, n int64, m int32) int32 {
	q, r := a, int32(1)
	for ; n > 1; n-- {
		if n%2 == 0 {
			q = q * q % m
			n = n/2 + 1
		} else {
			r = r * q % m
		}
	}
	if n == 0 {
		return 1
	}
	return r * q % m
}

// points is how many the source of a node has.
func (c class) points(node int) int {
	// The benchmark's random numbers are products modulo 2^46; this is the first one.
	const seed, modulus = 314159265, 1 << 46
	first := float64(seed*int64(2*node+1)%modulus) / modulus
	differ := power(int32(1/first)*'S', int64(2*node+1), int32(2*c.deviation))
	if differ < 0 {
		differ = -differ
	}
	return c.samples - c.deviation + int(differ)
}

// make returns the data of a source.
func (c class) make(node int) []float64 {
	generators := [dim]int32{2, 2, 2, 5}
	moduli := [dim]int32{421, 419, 1427, 3527}
	values := make([]float64, dim*c.points(node))
	exponent := int64(int32(len(values)*(node+1)) % 3141592)
	var state [dim]int32
	for d := range dim {
		state[d] = power(generators[d], exponent, moduli[d])
	}
	for i := range values {
		d := i % dim
		state[d] = state[d] * generators[d] % moduli[d]
		values[i] = float64(state[d])
	}
	return values
}

// resample stretches data to a length.
func resample(a []float64, length int) []float64 {
	stretched := make([]float64, length)
	by := float64(length / len(a))
	for i := 1; i < len(a)-1; i++ {
		low, high := int(0.5*float64(2*i-1)*by), int(0.5*float64(2*i+1)*by)
		share := a[i] / float64(high-low+1)
		for j := low; j <= high; j++ {
			stretched[j] += share
		}
	}
	stretched[0], stretched[length-1] = a[0], a[len(a)-1]
	return stretched
}

// filter puts b's points into a, weighted: each point, or the one before or after it, where a and b are closest.
func filter(a, b []float64, node int) []float64 {
	weight := float64(node+1) / float64(node+2)
	if len(a) < len(b) {
		a = resample(a, len(b))
	}
	if len(a) > len(b) {
		b = resample(b, len(a))
	}
	for i := dim; i < len(a)-dim; i += dim {
		best, at := distance(a, b, i), i
		if d := distance(a, b, i+dim); d < best {
			best, at = d, i+dim
		}
		if distance(a, b, i-dim) < best {
			at = i - dim
		}
		for d := range dim {
			a[i+d] = weight * b[at+d]
		}
	}
	return a
}

// distance is that of two points, squared.
func distance(a, b []float64, at int) (sum float64) {
	for d := range dim {
		difference := a[at+d] - b[at+d]
		sum += float64(difference * difference) // no fused multiply-add: the same on every processor
	}
	return sum
}

// combine returns what a comparator makes of what comes in.
func (c class) combine(node int, in [][]float64) []float64 {
	a := make([]float64, dim*c.samples)
	for _, b := range in {
		a = filter(a, b, node)
	}
	for i, v := range a {
		a[i] = float64(int(v) / len(in))
	}
	return a
}

// reduce returns what a sink makes of what comes in.
func reduce(node int, in [][]float64) float64 {
	sum := 0.0
	for _, a := range in {
		check := 0.0
		for _, v := range a {
			check += float64(v * v / float64(len(a)))
		}
		sum += float64(toInt32(float64(node+1) * check))
	}
	return float64(node+1) * float64(int64(sum)/int64(len(in)))
}

// toInt32 cuts as x86 does: what is too large becomes the least number.
func toInt32(v float64) int32 {
	if v > math.MaxInt32 || v < math.MinInt32 {
		return math.MinInt32
	}
	return int32(v)
}

// serial evaluates a graph on one thread, without messages.
func (c class) serial(g graph) (sum float64) {
	data := make([][]float64, len(g))
	for i, n := range g {
		var in [][]float64
		for _, a := range n.in {
			in = append(in, data[a.peer])
		}
		switch n.role {
		case source:
			data[i] = c.make(i)
		case comparator:
			data[i] = c.combine(i, in)
		case sink:
			sum += reduce(i, in)
		}
	}
	return sum
}
