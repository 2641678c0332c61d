// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/report"
	"github.com/tpsl/tpsl/tests/bench/results"
	"github.com/tpsl/tpsl/tests/bench/turns"
)

func TestOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-no":            "flag provided but not defined: -no; -h lists the options",
		"-only nothing":  "-only nothing: matches nothing that is measured",
		"-plot /nowhere": "open /nowhere: no such file",
	} {
		code, err := run(t.Context(), strings.Fields(args), new(strings.Builder), new(strings.Builder))
		assert.Equal(t, report.NotDone, code, args)
		require.ErrorContains(t, err, want)
	}
}

func TestSides(t *testing.T) {
	n := network{name: "guests", rails: []string{"r0", "r1"}, env: []string{"A=1"}, options: []string{"-hosts", "a,b"}, time: "50", crowded: []string{"", "0,0,0,0"}}
	line := func(mode string, pairs int, rails string) string {
		s := n.side(mode, pairs, rails, "stream", "8,64")
		return strings.Join(append(s.Env, s.Argv...), " ")
	}
	assert.Equal(t, "A=1 OMP_NUM_THREADS=1 UCX_NET_DEVICES=r0 bin/mpiexec -n 2 -rpp 1 -ppn 1 -bind-to none -hosts a,b "+
		"build/bench/stream-mpicc.mpich flat guests 50 8,64", line("flat", 1, ""))
	assert.Equal(t, "A=1 OMP_NUM_THREADS=2 BENCH_CPUS=0,0,0,0 UCX_NET_DEVICES=r0 bin/mpiexec -n 2 -rpp 1 -ppn 1 -bind-to none -hosts a,b "+
		"build/bench/stream-mpicc.mpich tags guests 50 8,64", line("tags", 2, ""))
	assert.Equal(t, "A=1 OMP_NUM_THREADS=2 BENCH_CPUS=0,0,0,0 bin/mpiexec -n 4 -rpp 2 -ppn 2 -bind-to none -nics near -hosts a,b "+
		"build/bench/stream-tpslcc tpsl guests/rails=near 50 8,64", line("tpsl", 2, near))
	assert.Equal(t, "A=1 OMP_NUM_THREADS=1 UCX_NET_DEVICES=r0,r1 UCX_MAX_EAGER_RAILS=2 UCX_MAX_RNDV_RAILS=2 bin/mpiexec -n 2 -rpp 1 -ppn 1 -bind-to none -hosts a,b "+
		"build/bench/stream-tpslcc tpsl guests/rails=both 50 8,64", line("tpsl", 1, both))
}

func TestLanes(t *testing.T) {
	const told = "[1] x UCX  INFO    ep_cfg[0]: tag(self/memory0 cma/memory rc_verbs/rxe0:1) rma(sysv/memory)\n" +
		"[2] x UCX  INFO    ep_cfg[12]: tag(rc_verbs/rxe1:1) am(rc_verbs/rxe1:1)\n[3] x UCX  INFO  loaded from /lib/tcp/eth0\n"
	n := network{transport: "rc_verbs"}
	require.NoError(t, n.checkLanes(told, []string{"rxe0:1", "rxe1:1"}))
	for _, c := range []struct {
		told  string
		rails []string
	}{
		{told, []string{"rxe0:1"}}, // more than it was given
		{told, []string{"rxe0:1", "rxe1:1", "rxe2:1"}},
		{told + "UCX  INFO  ep_cfg[3]: tag(tcp/eth0)", []string{"rxe0:1", "rxe1:1"}},
		{"", []string{"rxe0:1"}},
	} {
		assert.ErrorContains(t, n.checkLanes(c.told, c.rails), "ranks talked by", c)
	}
}

// Every goal is about benchmarks that the sides print; those of TCP run, with the fewest rounds, and tell the rails they were given.
func TestContestsServeGoals(t *testing.T) {
	testsupport.NothingLeft(t)
	testsupport.Require(t, "mpicc.mpich", "unshare", "ip", "tc")
	if os.Geteuid() != 0 {
		testsupport.Unable(t, "only root may make hosts of namespaces")
	}
	testsupport.Benchmarks(t)
	t.Chdir(testsupport.Build(t))
	require.NoError(t, turns.Compile(t.Context(), commands()))
	tcp := hosts()
	tcp.time = "0"
	var found results.Set
	for _, c := range (plan{}).overTCP(tcp) {
		for _, s := range c.Sides {
			output, _, err := s.Run(t.Context(), max(c.Limit, 5*time.Minute)) // others use the machine, too
			require.NoError(t, err)
			lines, _ := turns.TakeLibrary(output)
			require.NoError(t, found.Add(1, lines))
		}
	}
	printed := found.Names()
	for _, c := range (plan{}).overVerbs(new(guests).network()) {
		for _, s := range c.Sides {
			printed = append(printed, names(s)...)
		}
	}
	for _, g := range append(goalsOfModes(), goalsOfRails()...) {
		assert.Contains(t, printed, g.Name)
		assert.Contains(t, printed, g.Base)
	}
}

// names are those of what a side on guests prints.
func names(s turns.Side) (all []string) {
	mode, between, sizes := s.Argv[len(s.Argv)-4], s.Argv[len(s.Argv)-3], strings.Split(s.Argv[len(s.Argv)-1], ",")
	pairs := "1"
	if slices.Contains(s.Env, "OMP_NUM_THREADS=2") || slices.Contains(s.Argv, "4") {
		pairs = "2"
	}
	for _, size := range sizes {
		for _, kind := range []string{"Latency", "Rate", "Bandwidth"} {
			if kind != "Latency" || strings.Contains(strings.Join(s.Argv, " "), "talk-") {
				all = append(all, kind+"/mode="+mode+"/between="+between+"/pairs="+pairs+"/size="+size)
			}
		}
	}
	return all
}
