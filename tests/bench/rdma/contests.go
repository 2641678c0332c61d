// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tpsl/tpsl/tests/bench/turns"
)

// A plan is how much is measured.
type plan struct{ quick bool }

const limit = 60 * time.Second // of one job

// sizes of messages: small ones, and one that is split over rails.
func (p plan) sizes() string {
	if p.quick {
		return small + "," + large
	}
	return small + ",4096," + large
}

const small, large = "8", "65536"

// How ranks use the rails of their host, if not all have the first.
const (
	near = "near" // each of two ranks has one
	both = "both" // a rank has both
)

// commands build what is measured, and the system.
func commands() [][]string {
	all := [][]string{{"make", "-s", "all"}, {"cp", filepath.Join(turns.Sources, "two-hosts"), filepath.Join(turns.Sources, "ssh-again"), turns.Built}}
	for _, compiler := range []string{"mpicc.mpich", "bin/tpslcc"} {
		all = append(all, append(turns.CC(compiler, "stream"), source("ends")),
			append(turns.CC(compiler, "talk"), source("latency"), source("stream"), source("ends")))
	}
	return all
}

func source(name string) string { return filepath.Join(turns.Sources, name+".c") }

// overVerbs compares modes by one rail, then two rails with one.
func (p plan) overVerbs(n network) []turns.Contest {
	c := turns.Contest{Limit: limit}
	for _, pairs := range []int{1, 2} {
		for _, mode := range []string{"flat", "tags", "tpsl"} {
			c.Sides = append(c.Sides, n.side(mode, pairs, "", "talk", p.sizes()))
		}
	}
	c.Sides = append(c.Sides, n.side("tpsl", 1, both, "stream", large), n.side("tpsl", 2, near, "stream", large))
	return []turns.Contest{c}
}

// overTCP compares two rails with one.
func (p plan) overTCP(n network) []turns.Contest {
	return []turns.Contest{{Limit: limit, Sides: []turns.Side{
		n.side("tpsl", 1, "", "stream", large), n.side("tpsl", 1, both, "stream", large),
		n.side("tpsl", 2, "", "stream", large), n.side("tpsl", 2, near, "stream", large),
	}}}
}

// side makes a side of pairs whose first ends are on the first host and whose second ends on the second one: flat ranks, thread
// ranks of one process for each host, or its threads in one rank. Without a word about rails it has the first, too.
func (n network) side(mode string, pairs int, rails, program, sizes string) turns.Side {
	threads, perProcess, ranks, compiler := 1, 1, 2*pairs, "mpicc.mpich"
	switch mode {
	case "tpsl":
		threads, perProcess, compiler = pairs, pairs, "tpslcc"
	case "tags":
		threads, ranks = pairs, 2
	}
	between, devices := n.name, n.rails[:1]
	if rails != "" {
		between += "/rails=" + rails
	}
	env := append(slices.Clone(n.env), fmt.Sprintf("OMP_NUM_THREADS=%d", threads))
	if cpus := n.crowded[pairs-1]; cpus != "" {
		env = append(env, "BENCH_CPUS="+cpus)
	}
	argv := append(slices.Clone(n.start), "bin/mpiexec", "-n", fmt.Sprint(ranks), "-rpp", fmt.Sprint(perProcess), "-ppn", fmt.Sprint(ranks/2), "-bind-to", "none")
	switch rails {
	case near:
		devices, argv = n.rails, append(argv, "-nics", "near")
	case both:
		devices = n.rails
		env = append(env, "UCX_NET_DEVICES="+n.rails[0]+","+n.rails[1], "UCX_MAX_EAGER_RAILS=2", "UCX_MAX_RNDV_RAILS=2")
	default:
		env = append(env, "UCX_NET_DEVICES="+n.rails[0])
	}
	argv = append(append(argv, n.options...), turns.Program(program, compiler), mode, between, n.time, sizes)
	return turns.Side{Env: env, Argv: argv, In: n.talks(devices), Hangs: mode == "tags"}
}
