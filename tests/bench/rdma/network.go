// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tpsl/tpsl/internal/testsupport"
	"github.com/tpsl/tpsl/tests/bench/turns"
	"github.com/tpsl/tpsl/tests/rdma/guest"
)

// A network is two hosts that two rails join.
type network struct {
	name      string // of where ranks are, in benchmarks' names
	transport string // as UCX calls it
	rails     []string
	env       []string
	start     []string // in front of mpiexec
	options   []string // of mpiexec
	time      string   // of one figure, in milliseconds: some windows of large messages
	crowded   []string // BENCH_CPUS of one pair and of two where ends share a CPU, among themselves or with the device; "": they do not
	run       runner
}

// A runner runs a command on the first host.
type runner func(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error)

// guests is the emulated machines.
type guests struct {
	boot  func() (*guest.Group, error)
	group *guest.Group // nil where there are none
}

var sshAgain = filepath.Join(turns.Built, "ssh-again")

// newGuests returns guests that are not there yet, and end at ctx's end at the latest.
func newGuests(ctx context.Context) *guests {
	return &guests{boot: func() (*guest.Group, error) {
		group, err := guest.Start(ctx, guest.Options{Guests: 2, Rails: 2, CPUs: cpus(), Apart: true})
		if err == nil {
			go func() { _, _ = group.Run(ctx, 0, nil, "ssh", "-MNS", "/run/ssh", "b") }() // to the guest's end, for programs/ssh-again
		}
		return group, err
	}}
}

// start boots them, if they are not there.
func (g *guests) start() (err error) {
	if g.group == nil {
		g.group, err = g.boot()
	}
	return err
}

// stop ends them, if they are there.
func (g *guests) stop() (err error) {
	if g.group != nil {
		err = g.group.Stop()
		g.group = nil
	}
	return err
}

// run runs a command in a. What it leaves in the kernel when it has no end would be in the way of the next: that gets new guests.
func (g *guests) run(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error) {
	if err := g.start(); err != nil {
		return "", "", 0, err
	}
	r, err := g.group.Run(ctx, 0, env, argv...)
	if err != nil {
		err = errors.Join(err, g.stop())
	}
	return r.Stdout, r.Stderr, r.Code, err
}

// cpus is how many each guest has: as many as the ranks of two pairs need there, if the machine has them.
func cpus() int { return max(1, min(2, runtime.NumCPU()/2)) }

// network is that of soft-RoCE.
func (g *guests) network() network {
	crowded := []string{"", ""}
	if cpus() == 1 { // soft-RoCE's share of the work is done between those who spin, a millisecond late, unless they yield
		crowded = []string{"0,0", "0,0,0,0"}
	}
	return network{
		name: "guests", transport: "rc_verbs", rails: []string{"rxe0:1", "rxe1:1"},
		env:     guest.UCX("UCX_TLS=rc,sm,self"),
		options: []string{"-hosts", "a,b", "-launcher", "ssh", "-launcher-exec", sshAgain},
		time:    "1000",
		crowded: crowded,
		run:     g.run,
	}
}

// rate is that of a link of TCP, far below what the CPUs can do.
const rate = "200mbit"

var twoHosts = filepath.Join(turns.Built, "two-hosts")

// hosts is two hosts of namespaces, on a CPU each, see programs/two-hosts.
func hosts() network {
	return network{
		name: "hosts", transport: "tcp", rails: []string{"eth0", "eth1"},
		env:     []string{"UCX_TLS=tcp,sm,self"},
		start:   []string{twoHosts, "-rail", rate, "-rail", rate, "0", "1"},
		options: []string{"-hosts", "10.79.0.1,10.79.0.2", "-launcher", "ssh", "-launcher-exec", twoHosts},
		time:    "200",
		crowded: []string{"", "0,0,1,1"},
		run:     testsupport.OutputContext,
	}
}

// talks returns a runner that refuses a run whose ranks did not talk to other hosts by all of these rails, and nothing else.
func (n network) talks(rails []string) runner {
	return func(ctx context.Context, env []string, argv ...string) (stdout, stderr string, code int, err error) {
		stdout, stderr, code, err = n.run(ctx, append(env, "UCX_LOG_LEVEL=info", "UCX_LOG_FILE=stderr"), argv...)
		if err == nil && code == 0 {
			err = n.checkLanes(stderr, rails)
		}
		return stdout, stderr, code, err
	}
}

// checkLanes compares the lanes that a job told of with those that lead by the rails.
func (n network) checkLanes(told string, rails []string) error {
	found := map[string]bool{}
	for _, c := range guest.Connections(told) {
		for _, lane := range c.Lanes {
			if !strings.Contains(lane, "/memory") { // of one host
				found[lane] = true
			}
		}
	}
	want := map[string]bool{}
	for _, rail := range rails {
		want[n.transport+"/"+rail] = true
	}
	if !maps.Equal(found, want) {
		return fmt.Errorf("ranks talked by %q, not by %q", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(want)))
	}
	return nil
}
