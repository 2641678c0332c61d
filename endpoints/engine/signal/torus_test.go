// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package signal

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func torus(t testing.TB, size, dimensions int) *Torus {
	t.Helper()
	torus, err := NewTorus(size, dimensions)
	require.NoError(t, err)
	return torus
}

// distances returns how far all processes are from one, by a search that knows nothing but the neighbours.
func distances(neighbours [][]int, from int) []int {
	steps := make([]int, len(neighbours))
	for i := range steps {
		steps[i] = -1
	}
	steps[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, to := range neighbours[queue[0]] {
			if steps[to] < 0 {
				steps[to] = steps[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
	return steps
}

func allChannels(torus *Torus) (all [][]channel) {
	for rank := range torus.Size() {
		all = append(all, torus.channels(rank))
	}
	return all
}

func allNeighbours(torus *Torus) (all [][]int) {
	for rank := range torus.Size() {
		all = append(all, torus.Neighbours(rank))
	}
	return all
}

// The thesis's table for 128 processes has 2.00, 4.19 and 6.36 links a process. The mean distances from rank 0, from which
// it measured, are those that fit its times: 32.25, 4.80, 3.42.
func TestCountsOfTheThesis(t *testing.T) {
	for dimensions, want := range map[int]struct {
		sides     []int
		links     int // of all processes: 128 times the thesis's number
		published float64
		steps     int // from rank 0 to all others
		hops      float64
	}{
		1: {[]int{128}, 256, 2.00, 4096, 32.25},
		2: {[]int{11, 12}, 536, 4.19, 610, 4.80},
		3: {[]int{5, 5, 6}, 814, 6.36, 434, 3.42},
	} {
		torus := torus(t, 128, dimensions)
		assert.Equal(t, want.sides, torus.sides)
		all := allNeighbours(torus)
		links, steps := 0, 0
		for _, to := range all {
			links += len(to)
		}
		for _, s := range distances(all, 0) {
			steps += s
		}
		assert.Equal(t, want.links, links)
		assert.Equal(t, want.steps, steps)
		assert.InDelta(t, want.published, float64(links)/128, 0.005)
		assert.InDelta(t, want.hops, float64(steps)/127, 0.005)
	}
}

// sizes are those that tests try: all small ones, powers, primes, and those beside powers.
func sizes(most int) (all []int) {
	for size := 1; size <= most; size++ {
		if size <= 40 || slices.Contains([]int{53, 63, 64, 65, 80, 81, 97, 100, 101, 121, 125, 127, 128, 131, 211, 216, 217, 257, 343, 509, 512}, size) {
			all = append(all, size)
		}
	}
	return all
}

// A process has the links of its torus and its ring and no others, no more than two for each dimension and two; links have two ends.
func TestLinks(t *testing.T) {
	for _, size := range sizes(257) {
		for dimensions := 1; dimensions <= MaxDimensions; dimensions++ {
			torus := torus(t, size, dimensions)
			volume := 1
			for _, side := range torus.sides {
				volume *= side
			}
			last := volume / torus.sides[dimensions-1]
			require.True(t, volume >= size && volume-last < size, "%v", torus.sides)
			all := allNeighbours(torus)
			for rank, to := range all {
				limit := 2*dimensions + 2
				if dimensions == 1 {
					limit = 2 // the torus is the ring
				}
				require.LessOrEqual(t, len(to), limit)
				require.NotContains(t, to, rank)
				require.Len(t, slices.Compact(slices.Sorted(slices.Values(to))), len(to), "twice")
				for _, other := range to {
					require.Contains(t, all[other], rank)
				}
				if size > 1 {
					require.Contains(t, to, (rank+1)%size)
				}
				channels := torus.channels(rank)
				require.True(t, slices.IsSortedFunc(channels, func(a, b channel) int { return a.order - b.order }))
			}
		}
	}
}

// way follows a message from process to process. It returns how many links it took, and its last class.
func way(t testing.TB, all [][]channel, tables []routes, from, to int) (links, class int) {
	came := start
	for at := from; at != to; links++ {
		if links > len(all) {
			t.Fatal("a circle")
		}
		channels := all[at]
		i, ascends := choose(channels, tables[at][to], came)
		switch {
		case i < 0:
			t.Fatal("no way")
		case ascends:
			class++
		case channels[i].order <= came:
			t.Fatal("not in order")
		}
		at, came = channels[i].to, channels[i].order
	}
	return links, class
}

// Every process reaches every other on a shortest way, and no message needs more classes than there are dimensions, and one.
func TestWaysAreShortest(t *testing.T) {
	for dimensions := 1; dimensions <= MaxDimensions; dimensions++ {
		most := 0
		for _, size := range sizes(131) {
			torus := torus(t, size, dimensions)
			tables := make([]routes, size)
			for rank := range tables {
				tables[rank] = torus.routesFrom(rank, nil)
			}
			all, channels := allNeighbours(torus), allChannels(torus)
			for from := range size {
				for to, want := range distances(all, from) {
					links, class := way(t, channels, tables, from, to)
					if links != want {
						t.Fatalf("%d processes in %d dimensions: %d links from %d to %d, not %d", size, dimensions, links, from, to, want)
					}
					most = max(most, class)
				}
			}
		}
		assert.Equal(t, dimensions, most, "the last class in %d dimensions", dimensions)
	}
}

// With links down, ways are the shortest that remain; where none remains, none is claimed.
func TestWaysAround(t *testing.T) {
	for _, size := range []int{7, 16, 31, 64, 101} {
		for dimensions := 1; dimensions <= MaxDimensions; dimensions++ {
			torus := torus(t, size, dimensions)
			allChannels := allChannels(torus)
			dead := map[int]bool{2: true, size / 2: true}
			down := map[edge]bool{}
			all := allNeighbours(torus)
			for rank := range all {
				for _, to := range torus.Neighbours(rank) {
					if dead[rank] || dead[to] {
						down[edgeOf(rank, to)] = true
					}
				}
				all[rank] = slices.DeleteFunc(all[rank], func(to int) bool { return down[edgeOf(rank, to)] })
			}
			tables := make([]routes, size)
			for rank := range tables {
				tables[rank] = torus.routesFrom(rank, down)
			}
			for from := range size {
				for to, want := range distances(all, from) {
					if want < 0 {
						require.Zero(t, tables[from][to])
						continue
					}
					links, _ := way(t, allChannels, tables, from, to)
					require.Equal(t, want, links)
				}
			}
		}
	}
}

func TestTorusRefuses(t *testing.T) {
	for _, bad := range [][2]int{{0, 1}, {-1, 2}, {5, 0}, {5, 4}, {math.MaxInt, 3}} {
		_, err := NewTorus(bad[0], bad[1])
		assert.ErrorContains(t, err, "take 1 to", fmt.Sprint(bad))
	}
}
