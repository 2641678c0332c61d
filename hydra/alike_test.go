// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
)

// 500 hosts with the same trouble say it in one line, and so do ranks.
func TestExplanations(t *testing.T) {
	var all complaints
	assert.Empty(t, all.lines())
	for i := range 500 {
		all.add("it is down", fmt.Sprint("n", i), 0)
		all.add("it is down", fmt.Sprint("n", i), 0)
	}
	all.add("it is gone", "a", 0)
	all.add("it is full", "b", 0)
	all.add("it is full", "a", 0)
	all.add("it is full", "a", 0, 7)
	all.add("it is full", "b", 0, 3, 4)
	all.add("it is full", "b", 0, 4, 5)
	all.add("it is full", "b", 1, 5)
	assert.Equal(t, []string{
		"mpiexec: hosts n[0-499]: it is down",
		"mpiexec: host a: it is gone",
		"mpiexec: hosts b,a: it is full",
		"mpiexec: ranks 3-5,7 on a,b: it is full",
		"mpiexec: rank 5 of group 1 on b: it is full",
	}, all.lines())
}

// Processes that fail alike beside the first one share a line.
func TestAlsoFailed(t *testing.T) {
	failed := func(rank int, status uint32, host string) exitInfo {
		set := plan.RankSet{Ranks: []int{rank}}
		return exitInfo{Exit: channel.Exit{Status: status, Unfinalized: set.Ranks, ExitRank: -1}, set: set, program: "./a", host: host}
	}
	assert.Equal(t, []string{
		"mpiexec: also failed: ranks 1-3 on n[1-3]: ./a: exited with status 2 without MPI_Finalize",
		"mpiexec: also failed: rank 9 on n1: ./a: SIGILL (4), no core",
	}, alsoFailed([]exitInfo{failed(2, 2<<8, "n2"), failed(9, 4, "n1"), failed(1, 2<<8, "n1"), failed(3, 2<<8, "n3")}))
	var many []exitInfo
	for code := range 20 {
		many = append(many, failed(code, uint32(code)<<8, "n1"))
	}
	lines := alsoFailed(many)
	assert.Len(t, lines, 9)
	assert.Equal(t, "mpiexec: also failed, for 12 more reasons: other ranks; -report FILE lists all", lines[8])
}

// A line of our libraries is shown once, and then who wrote it; other lines, and what is indented, are shown as they are.
func TestRepeatedLines(t *testing.T) {
	link := &proxyLink{host: plan.Host{Name: "n1"}, world: &world{ends: ends{}}}
	link.world.ends.add(exitInfo{set: plan.RankSet{Ranks: []int{2, 3}}}, 0)
	r := &repeats{first: map[string]source{}}
	text := "hello\ntpsl: slots are 0 to 1; you passed 2\ntpsl:   #0 frame\ntpsl: unfinished"
	drop := func(rank int) string { return string(r.drop(source{link, rank}, []byte(text))) }
	assert.Equal(t, text, drop(0))
	assert.Equal(t, text, drop(0), "it may say so twice")
	assert.Equal(t, "hello\ntpsl:   #0 frame\ntpsl: unfinished", drop(2))
	assert.Equal(t, "hello\ntpsl:   #0 frame\ntpsl: unfinished", drop(4))
	assert.Equal(t, []string{"mpiexec: ranks 0,2-4 on n1 said: tpsl: slots are 0 to 1; you passed 2"}, r.lines())
}
