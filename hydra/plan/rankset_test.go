// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func TestCutSets(t *testing.T) {
	m := topology.Read(topologytest.FourNodes.Tree(), cpus(t, "0-31"))
	for _, c := range []struct {
		object, bind, mapBy string
		ranks               int
		want                string
	}{
		{"numa", "core", "", 32, "0-7 8-15 16-23 24-31"},
		{"numa", "core:2", "", 10, "0-3 4-7 8-9"},
		{"numa", "core", "numa", 3, "0 1 2"},
		{"numa", "core:5", "", 4, "0 1 2 3"}, // 0-4, 5-9 of two nodes, 10-14, 15-19
		{"numa", "numa", "", 6, "0 1 2 3 4 5"},
		{"socket", "core", "", 34, "0-33"},
		{"core", "hwthread", "", 3, "0 1 2"},
		{"node", "core", "", 6, "0-5"},
		{"numa", "l3cache", "", 9, "0-1 2-3 4-5 6-7 8"},
	} {
		mapBy := Binding{}
		if c.mapBy != "" {
			mapBy = binding(t, c.mapBy)
		}
		dealt, err := binding(t, c.bind).Deal(c.ranks+1, mapBy, m)
		require.NoError(t, err)
		// The set comes after the set of another program, so that local indices differ from slots.
		sets := []RankSet{{Program: 1, Ranks: []int{100}, Local: 0}, {Program: 0, Local: 1}}
		for i := range c.ranks {
			sets[1].Ranks = append(sets[1].Ranks, i)
		}
		dealt = append([]topology.Set{{31}}, dealt...)
		cut := cutByObject(sets, []Program{{PerObject: c.object}, {PerProcess: 1}}, dealt, m)
		assert.Equal(t, sets[0], cut[0])
		var got []string
		for _, set := range cut[1:] {
			assert.Equal(t, set.Ranks[0]+1, set.Local)
			got = append(got, set.Label())
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "-rpp %s -bind-to %s", c.object, c.bind)
	}
}
