// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func TestDeal(t *testing.T) {
	const big, nps4, hybrid, smt = "big ", "nps4 ", "hybrid ", "smt "
	trees := map[string]fs.FS{big: topologytest.TwoSockets.Tree(), nps4: topologytest.FourNodes.Tree(), hybrid: topologytest.Hybrid(),
		smt: topologytest.Machine{Sockets: 2, Nodes: 1, L3: 1, Cores: 2, SMT: 2}.Tree()} // cores 0,4 1,5 2,6 3,7
	machines := map[string]*topology.Machine{}
	for _, c := range []struct {
		sys, allowed, bind, mapBy string
		ranks                     int
		want                      string
	}{
		{smt, "0-7", "hwthread", "", 3, "0 4 1"},
		{smt, "0-7", "hwthread:2", "", 2, "0,4 1,5"},
		{smt, "0-7", "core", "", 5, "0,4 1,5 2,6 3,7 0,4"},
		{smt, "0-7", "core:2", "", 2, "0-1,4-5 2-3,6-7"},
		{smt, "0-7", "core:3", "", 5, "0-2,4-6 0-1,3-5,7 0,2-4,6-7 1-3,5-7 0-2,4-6"},
		{smt, "0-7", "core:9", "", 1, "0-7"},
		{smt, "0-7", "user:7+6,1", "", 3, "6-7 1 0-7"},
		{smt, "1,4,6", "rr", "", 4, "1 4 6 1"},
		{smt, "0-7", "core", "socket", 5, "0,4 2,6 1,5 3,7 0,4"},
		{smt, "0-7", "hwthread", "socket", 6, "0 2 4 6 1 3"},
		{smt, "0-7", "hwthread:2", "core:2", 4, "0,4 2,6 1,5 3,7"},
		{smt, "0-7", "socket", "core", 4, "0-1,4-5 0-1,4-5 2-3,6-7 2-3,6-7"},
		{smt, "0-7", "machine", "core", 2, "0-7 0-7"},
		{smt, "0-3", "core", "", 4, "0 1 2 3"},
		{smt, "2,3,6", "socket", "", 2, "2-3,6 2-3,6"},
		{nps4, "0-31", "numa", "", 5, "0-7 8-15 16-23 24-31 0-7"},
		{nps4, "0-31", "core", "numa", 6, "0 8 16 24 1 9"},
		{nps4, "0-31", "l3cache", "numa", 6, "0-3 8-11 16-19 24-27 4-7 12-15"},
		{nps4, "0-31", "core:2", "l3cache", 3, "0-1 4-5 8-9"},
		{nps4, "3,9-10,25", "numa", "", 4, "3 9-10 25 3"},
		{nps4, "3,9-10,25", "core", "numa", 5, "3 9 25 3 10"},
		{hybrid, "0-15", "core", "", 6, "0-1 2-3 4-5 6-7 8 9"},
		{hybrid, "0-15", "l2cache", "", 6, "0-1 2-3 4-5 6-7 8-11 12-15"},
		{big, "0-255", "core", "l3cache", 3, "0,128 8,136 16,144"},
		{big, "0-255", "gpu", "", 4, "0-63,128-191 0-63,128-191 64-127,192-255 64-127,192-255"},
		{big, "0-255", "gpu2", "", 1, "64-127,192-255"},
		{big, "0-255", "core", "gpu", 4, "0,128 0,128 64,192 64,192"},
		{big, "0-255", "ib", "", 3, "0-63,128-191 64-127,192-255 0-63,128-191"},
		{big, "0-70", "ib1", "", 1, "64-70"},
		{big, "0-255", "en", "", 1, "0-63,128-191"},
		{big, "0-255", "pci:a1:00.0", "", 2, "64-127,192-255 64-127,192-255"},
	} {
		bind, mapBy := binding(t, c.bind), Binding{}
		if c.mapBy != "" {
			mapBy = binding(t, c.mapBy)
		}
		machine := machines[c.sys+c.allowed]
		if machine == nil {
			machine = topology.Read(trees[c.sys], cpus(t, c.allowed))
			machines[c.sys+c.allowed] = machine
		}
		sets, err := bind.Deal(c.ranks, mapBy, machine)
		require.NoError(t, err, c.bind)
		var got []string
		for _, set := range sets {
			got = append(got, set.String())
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "-bind-to %s -map-by %s in %s", c.bind, c.mapBy, c.allowed)
	}
}

func TestDealRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		sys           fs.FS
		allowed, bind string
		says          string
	}{
		"CPU outside":            {fstest.MapFS{}, "0-1", "user:0,9", "CPUs 9 are not all among 0-1, which this job may use"},
		"no CPU":                 {fstest.MapFS{}, "", "core", "no CPU to bind to"},
		"no such cache":          {fstest.MapFS{}, "0-1", "l4cache", "the kernel tells of no l4cache near CPUs 0-1, which this job may use: bind to core, numa or socket"},
		"no such device":         {topologytest.TwoSockets.Tree(), "0-255", "ib7", "there is no ib7 near"},
		"no such GPU":            {topologytest.TwoSockets.Tree(), "0-255", "gpu4", "there is no gpu4 near"},
		"no such address":        {topologytest.TwoSockets.Tree(), "0-255", "pci:ff:00.0", "there is no pci:ff:00.0 near"},
		"device of others' CPUs": {topologytest.TwoSockets.Tree(), "0-3", "ib1", "there is no ib1 near CPUs 0-3, which this job may use"},
	} {
		_, err := binding(t, c.bind).Deal(2, Binding{}, topology.Read(c.sys, cpus(t, c.allowed)))
		assert.ErrorContains(t, err, c.says, name)
	}
}
