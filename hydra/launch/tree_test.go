// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// shape writes branches as 1(2 3(4)).
func shape(branches []Branch) (text string) {
	for i, b := range branches {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(b.Host.ID)
		if len(b.Below) > 0 {
			text += "(" + shape(b.Below) + ")"
		}
	}
	return text
}

func TestTree(t *testing.T) {
	own, _ := os.Hostname()
	far := func(n int) (hosts []Host) {
		for i := range n {
			hosts = append(hosts, Host{ID: i, Name: fmt.Sprintf("far%d", i), Ranks: []int{i}})
		}
		return hosts
	}
	mixed := far(4)
	mixed[2].Name = own
	for _, tt := range []struct {
		opts  Options
		hosts []Host
		want  string
	}{
		{Options{}, far(3), "0 1 2"},
		{Options{Fanout: 2}, far(7), "0(1 2) 3(4 5(6))"},
		{Options{Fanout: 1}, far(3), "0(1(2))"},
		{Options{Fanout: 2, AutoFork: true}, mixed, "2 0 1(3)"},
		{Options{Fanout: 2, AutoFork: true, LocalName: "far1"}, far(4), "1 0 2(3)"},
		{Options{Fanout: 2}, mixed, "0(1) 2(3)"},
		{Options{Launcher: "lsf", Fanout: 2}, far(3), "0 1 2"},
		{Options{Launcher: "fork"}, far(4), "0 1 2 3"},
		{Options{Launcher: "fork", Fanout: 3, AutoFork: true}, far(4), "0 1 2(3)"},
		{Options{}, nil, ""},
	} {
		assert.Equal(t, tt.want, shape(Tree(tt.hosts, tt.opts)), "%+v", tt.opts)
	}
	wide := Tree(far(1000), Options{})
	assert.Len(t, wide, 32)
	var ids, ranks []int
	for _, b := range wide {
		assert.LessOrEqual(t, len(b.Below), 32)
		ids, ranks = append(ids, b.IDs()...), append(ranks, b.ranks()...)
	}
	slices.Sort(ids)
	assert.Len(t, slices.Compact(ids), 1000)
	assert.ElementsMatch(t, ids, ranks)
}
