// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/ranges"
)

// segments makes options of one segment for each number of ranks.
func segments(opts HostOptions, ranks ...int) Request {
	o := Request{Hosts: opts}
	for _, n := range ranks {
		o.Segments = append(o.Segments, Segment{Ranks: n, PerProcess: 1, Args: []string{"prog"}})
	}
	return o
}

// planHosts plans options with hosts that they name, on host self.
func planHosts(opts Request) (Plan, error) {
	s := Site{Host: "self", Dir: "/d"}
	if err := s.FindHosts(opts.Hosts); err != nil {
		return Plan{}, err
	}
	return New(opts, s)
}

// layout writes which ranks are where: a=0-1,4 b=2.
func layout(plan Plan) string {
	var parts []string
	for _, host := range plan.Hosts {
		var ranks []int
		for _, set := range host.Sets {
			ranks = append(ranks, set.Ranks...)
		}
		parts = append(parts, host.Name+"="+ranges.Format(ranks))
	}
	return strings.Join(parts, " ")
}

func TestRankMap(t *testing.T) {
	withOwn := segments(HostOptions{List: "a:2,b:2"}, 1, 0, 3)
	withOwn.Segments[1].Hosts = "b,c:2"
	onlyOwn := segments(HostOptions{SkipLaunchNode: true}, 0)
	onlyOwn.Segments[0].Hosts = "c:2"
	for _, tt := range []struct {
		opts          Request
		want, mapping string
	}{
		{segments(HostOptions{}, 3), "self=0-2", "(vector,(0,1,3))"},
		{segments(HostOptions{}, 0), "self=0", "(vector,(0,1,1))"},
		{segments(HostOptions{LocalName: "me"}, 1), "me=0", "(vector,(0,1,1))"},
		{segments(HostOptions{PPN: 3}, 0), "self=0-2", "(vector,(0,1,3))"},
		{segments(HostOptions{List: "a,b,a,c", PPN: 1}, 4), "a=0,3 b=1 c=2", "(vector,(0,3,1))"},
		{segments(HostOptions{List: "a:2,b,a"}, 0), "a=0-2 b=3", "(vector,(0,2,3))"},
		{segments(HostOptions{List: "a,self,localhost,b", SkipLaunchNode: true}, 3), "a=0,2 b=1", "(vector,(0,2,1))"},
		{segments(HostOptions{List: "a,b,c:3", RankMap: "2,0,0,2"}, 4), "a=1-2 c=0,3", "(vector,(1,1,1),(0,2,2))"},
		{segments(HostOptions{List: "a,b:9", RankMap: "(vector, (1,1,1),(0,1,2))"}, 5), "a=1-2,4 b=0,3", "(vector,(1,1,1),(0,1,2))"},
		{segments(HostOptions{List: "a,b", RankMap: "(vector,(0,2,2))"}, 3), "a=0-1 b=2", "(vector,(0,2,2))"},
		{withOwn, "a=0,4 b=1,5-6 c=2-3", "(vector,(0,2,1),(2,1,2),(0,1,1),(1,1,2))"},
		{onlyOwn, "c=0-1", "(vector,(0,1,2))"},
	} {
		plan, err := planHosts(tt.opts)
		require.NoError(t, err, tt.opts.Hosts)
		assert.Equal(t, tt.want, layout(plan), tt.opts.Hosts)
		for i, host := range plan.Hosts {
			assert.Equal(t, i, host.ID)
			assert.Equal(t, tt.mapping, host.World.Mapping, tt.opts.Hosts)
			assert.Equal(t, plan.Size, host.World.Size)
		}
	}
}

// A set has ranks of one host and one segment only. Local indexes count a host's ranks from 0.
func TestRankMapCutsSets(t *testing.T) {
	opts := segments(HostOptions{List: "a:3,b:2"}, 7, 2)
	opts.Segments[0].PerProcess, opts.Segments[1].PerProcess = 2, 4
	plan, err := planHosts(opts)
	require.NoError(t, err)
	assert.Equal(t, []RankSet{{0, []int{0, 1}, 0}, {0, []int{2, 5}, 2}, {0, []int{6}, 4}, {1, []int{7}, 5}}, plan.Hosts[0].Sets)
	assert.Equal(t, []RankSet{{0, []int{3, 4}, 0}, {1, []int{8}, 2}}, plan.Hosts[1].Sets)
	assert.Equal(t, []int{6, 3}, []int{plan.Hosts[0].Ranks, plan.Hosts[1].Ranks})
	assert.Equal(t, "a: ranks 0-2,5-7\nb: ranks 3-4,8\n", plan.RankMap())
}

func TestRankMapErrors(t *testing.T) {
	own := segments(HostOptions{}, 1)
	own.Segments[0].Hosts = "a:b"
	for want, opts := range map[string]Request{
		`option -hosts: "a:x": "x" is not a number of slots`:                          segments(HostOptions{List: "a:x"}, 1),
		`host file: open /nowhere: no such file or directory`:                         segments(HostOptions{File: "/nowhere"}, 1),
		`hosts of prog: "a:b": "b" is not a number of slots`:                          own,
		`-skip-launch-node leaves no host: self is the only one`:                      segments(HostOptions{List: "self,localhost", SkipLaunchNode: true}, 1),
		`the job has more than 1048576 ranks; give -n`:                                segments(HostOptions{List: "a[1-4]:1048576"}, 0),
		`option -rankmap: it places 2 ranks, the job has 3`:                           segments(HostOptions{List: "a,b", RankMap: "0,1"}, 3),
		`option -rankmap: there is no host 2: hosts are 0 to 1, in the order`:         segments(HostOptions{List: "a,b", RankMap: "0,2"}, 2),
		`option -rankmap: expected host numbers such as 0,1,1,0, or (vector,(FIRST,H`: segments(HostOptions{RankMap: "0,x"}, 2),
	} {
		_, err := planHosts(opts)
		assert.ErrorContains(t, err, want)
	}
	for _, text := range []string{"", "-1", "(vector)", "(vector,())", "(vector,(0,1))", "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(0,1,1)", "(vector,(0,1,1)),"} {
		_, err := parseRankMap(text, 2)
		assert.Equal(t, errRankMap, err, text)
	}
}

func TestPlanTakesFromHosts(t *testing.T) {
	list, err := planHosts(segments(HostOptions{List: "a,b", Iface: "eth0", PropagateName: true}, 2))
	require.NoError(t, err)
	assert.Equal(t, []any{"eth0", true, ""}, []any{list.Hosts[1].Iface, list.Hosts[1].TellName, list.Hosts[1].User})

	system := segments(HostOptions{List: "a,b:9", PPN: 4}, 2)
	system.PMI.Universe = "SYSTEM"
	plan, err := planHosts(system)
	require.NoError(t, err)
	assert.Equal(t, 8, plan.Hosts[0].World.Universe)

	opts := segments(HostOptions{}, 2)
	opts.Hardware.Bind = Binding{Object: "core", Count: 1}
	s := Site{Host: "self"}
	require.NoError(t, s.FindHosts(HostOptions{List: "a,b"}))
	s.Hosts[1].Binding, s.Hosts[1].User = "hwthread:2", "eve"
	plan, err = New(opts, s)
	require.NoError(t, err)
	assert.Equal(t, "core", plan.Hosts[0].Hardware.Bind.Object)
	assert.Equal(t, Binding{Object: "hwthread", Count: 2}, plan.Hosts[1].Hardware.Bind)
	assert.Equal(t, "eve", plan.Hosts[1].User)
	s.Hosts[1].Binding = "moon"
	_, err = New(opts, s)
	assert.ErrorContains(t, err, fmt.Sprintf("binding of host b: %q is not one of", "moon"))
}
