// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/tpsl/tpsl/tests/bench/turns"
)

// Messages of 0 bytes have a latency only.
var (
	allSizes   = []int{8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20}
	quickSizes = []int{8, 512, 4096, 65536, 4 << 20}
)

func (p plan) sizes() []int {
	if p.quick {
		return quickSizes
	}
	return allSizes
}

// pairs are the numbers of pairs: as many as there are cores, up to the paper's 16.
func (p plan) pairs() (numbers []int) {
	for n := 1; n <= min(16, len(p.cores)); n *= 2 {
		if !p.quick || n <= 2 || n == 16 {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// ends compares all ways of a program of pairs.
func (p plan) ends(name string, pairs int, sizes []int) turns.Contest {
	return p.compare(name, pairs, sizes, p.waysOf(pairs)...)
}

func (p plan) waysOf(pairs int) []way {
	ways := []way{flat, tpslThreads, tpslProcesses, tags, comms}
	switch {
	case pairs == 1: // a private rank of its own process is a flat one
		ways = append(ways, privateThreads)
	case !p.quick:
		ways = append(ways, privateThreads, privateProcesses)
	}
	return ways
}

// compare makes a contest of the ways to run a program.
func (p plan) compare(name string, pairs int, sizes []int, ways ...way) turns.Contest {
	c := turns.Contest{Limit: 20 * time.Second}
	for _, w := range ways {
		c.Sides = append(c.Sides, w.run(p.cores, pairs, name, fmt.Sprint(p.milliseconds), join(sizes, ",")))
	}
	return c
}

// hosts compares ranks of two hosts, over TCP.
func (p plan) hosts() (all []turns.Contest) {
	sizes, ways := []int{8, 4096, 65536, 1 << 20}, []way{flatHosts, tpslHosts, tagsHosts}
	if p.quick {
		sizes, ways = []int{8, 65536}, ways[:2]
	}
	for _, pairs := range p.pairs() {
		if 2*pairs <= len(p.cores) {
			all = append(all, p.compare("latency", pairs, sizes, ways...), p.compare("stream", pairs, sizes, ways...))
		}
	}
	return all
}

// limits measures what the cores of one pair allow.
func (p plan) limits() turns.Contest {
	return turns.Contest{Limit: 20 * time.Second, Sides: []turns.Side{{
		Env:  []string{"BENCH_CPUS=" + join(place(p.cores, 1), ",")},
		Argv: []string{turns.Program("limits", "gcc"), fmt.Sprint(p.milliseconds), join(p.sizes(), ",")},
	}}}
}

// The paper's grids (section 4.3) of 1 GiB: X, Y and Z. With each halved, the two sides' take 256 MiB.
var (
	cube   = []int{512, 512, 512}
	largeX = []int{16384, 128, 64}
	largeY = []int{128, 16384, 64}
	largeZ = []int{128, 64, 16384}
)

// halos compares the exchange of planes by a side of 1, 2, 4... threads or flat ranks.
func (p plan) halos() (all []turns.Contest) {
	grids, most := [][]int{cube, largeX, largeY, largeZ}, max(4, min(16, len(p.cores)))
	ways := []way{flat, tpslProcesses, tags}
	if p.quick {
		grids, most, ways = [][]int{largeX, largeZ}, min(most, 2), ways[:2]
	}
	for _, grid := range grids {
		cut := make([]int, len(grid))
		for i := range grid {
			cut[i] = grid[i] / p.cut
		}
		for threads := 1; threads <= most; threads *= 2 {
			all = append(all, p.compare("halo", threads, cut, ways...))
		}
	}
	return all
}

// ranksOfOneProcess compares collectives of a rank on each core, and overlap, with flat ranks.
func (p plan) ranksOfOneProcess() (all []turns.Contest) {
	compare := func(name string, pairs int, sizes ...int) {
		if p.quick {
			sizes = []int{sizes[0], sizes[2]}
		}
		all = append(all, p.compare(name, pairs, sizes, flat, tpslThreads, privateThreads))
	}
	if pairs := min(16, len(p.cores)) / 2; pairs > 0 {
		compare("collective", pairs, 8, 4096, 65536, 1<<20)
	}
	compare("overlap", 1, 65536, 1<<20, 4<<20)
	return all
}
