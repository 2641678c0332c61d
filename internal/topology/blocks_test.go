// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func TestCoresFirst(t *testing.T) {
	smt := topology.Read(topologytest.Machine{Sockets: 2, Nodes: 1, L3: 1, Cores: 2, SMT: 2, Adjacent: true}.Tree(), set(t, "0-4,6-7"))
	assert.Equal(t, topology.Set{0, 2, 4, 6, 1, 3, 7}, smt.CoresFirst())
	assert.Equal(t, topology.Set{1, 5, 9}, topology.Read(topologytest.FourNodes.Tree(), set(t, "1,5,9")).CoresFirst())
}

func TestBlocks(t *testing.T) {
	sockets := topologytest.TwoSockets.Tree() // 128 cores, two CPUs each
	nodes := topologytest.FourNodes.Tree()    // 4 nodes of 8 cores, one CPU each
	for name, c := range map[string]struct {
		sys     fstest.MapFS
		allowed string
		ranks   int
		want    []string
	}{
		"one rank has it all":              {nodes, "0-31", 1, []string{"0-31"}},
		"a node each":                      {nodes, "0-31", 4, []string{"0-7", "8-15", "16-23", "24-31"}},
		"two for a node":                   {nodes, "0-31", 8, []string{"0-3", "4-7", "8-11", "12-15", "16-19", "20-23", "24-27", "28-31"}},
		"three: a block is more than node": {nodes, "0-31", 3, []string{"0-9", "10-19", "20-29"}},
		"nine: blocks of 3, two for a node would be eight": {nodes, "0-31", 9,
			[]string{"0-2", "3-5", "6-8", "9-11", "12-14", "15-17", "18-20", "21-23", "24-26"}},
		"fifteen: blocks of 2, none across a node": {nodes, "0-31", 15,
			[]string{"0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "12-13", "14-15", "16-17", "18-19", "20-21", "22-23", "24-25", "26-27", "28-29"}},
		"nodes that are cut by the mask":      {nodes, "0-6,8-14", 4, []string{"0-2", "3-5", "8-10", "11-13"}},
		"both threads of a core":              {sockets, "0-255", 2, []string{"0-63,128-191", "64-127,192-255"}},
		"four of two sockets":                 {sockets, "0-255", 4, []string{"0-31,128-159", "32-63,160-191", "64-95,192-223", "96-127,224-255"}},
		"as many as cores":                    {sockets, "0-1,128-129", 2, []string{"0,128", "1,129"}},
		"more than cores":                     {sockets, "0-1,128-129", 3, []string{"0", "1", "128"}},
		"as many as CPUs":                     {sockets, "0-1,128-129", 4, []string{"0", "1", "128", "129"}},
		"more than CPUs":                      {sockets, "0-1,128-129", 5, nil},
		"sockets whose cores alternate":       {topologytest.Interleaved.Tree(), "0-1,3-8,10-14", 2, []string{"0,4,6,8,10,12,14", "1,3,5,7,11,13"}},
		"big cores and small ones":            {topologytest.Hybrid(), "0-15", 3, []string{"0-7", "8-11", "12-15"}},
		"a container that hides the hardware": {fstest.MapFS{}, "2-7", 3, []string{"2-3", "4-5", "6-7"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, block := range topology.Read(c.sys, set(t, c.allowed)).Blocks(c.ranks) {
				got = append(got, block.String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}
