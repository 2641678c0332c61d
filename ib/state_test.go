// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// full is a /sys that has no file descriptor for anybody.
type full struct{}

func (full) Open(string) (fs.File, error) { return nil, unix.ENFILE }

// A port is gone when its file is not there, or when the kernel waits for those who use its device.
func TestStateOf(t *testing.T) {
	sys := fstest.MapFS{
		"class/infiniband/a/ports/1/state": {Data: []byte("4: ACTIVE\n")},
		"class/infiniband/a/ports/2/state": {Data: []byte("2: INIT\n")},
		"class/infiniband/c/ports/1/state": {Data: []byte("1: DOWN\n")},
		"class/infiniband/d/ports/1/state": {Data: []byte("4: ACTIVE\n")},
	}
	registered := func(device string) bool { return device == "a" }
	for port, state := range map[string]string{"a:1": "up", "a:2": "init", "a:3": Gone, "b:1": Gone, "c:1": Gone, "d:1": Gone} {
		assert.Equal(t, state, StateOf(sys, port, registered), port)
	}
	assert.Equal(t, "unknown", StateOf(full{}, "a:1", registered))
	assert.Equal(t, Gone, StateOf(full{}, "c:1", registered)) // ENODEV, in truth
}

// What is said of a port in mid-run names no other way: connections do not move.
func TestLost(t *testing.T) {
	ports := []NIC{{Name: "a:1", State: "up"}, {Name: "b:1", State: "down", GIDs: []GID{{Interface: "eth7"}}}}
	for _, c := range []struct{ port, state, line string }{
		{"c:1", Gone, "RDMA port c:1 is gone; connections by it are lost; to mend it, load its driver, or name one that is: a:1, b:1"},
		{"b:1", "down", "RDMA port b:1 is down; ranks that send by it fail; to mend it, bring its network interface up (ip link set eth7 up)"},
		{"a:1", "armed", "RDMA port a:1 is armed; ranks that send by it fail; to mend it, start a subnet manager (opensm)"},
		{"d:1", "down", "RDMA port d:1 is down; ranks that send by it fail; to mend it, bring it up (rdma link shows it)"},
	} {
		assert.Equal(t, c.line, Lost(c.port, c.state, ports).String())
	}
}

func TestMayMiss(t *testing.T) {
	all, here := Host{Here: 4, Ranks: 8}, Host{Here: 4, Ranks: 4}
	for settings, expected := range map[string][2]bool{ // on several hosts, on one
		"UCX_TLS=rc,self UCX_NET_DEVICES=a:1":           {false, false},
		"UCX_TLS=rc,tcp,self UCX_NET_DEVICES=a:1,lo":    {false, false},
		"UCX_TLS=rc,sm,self UCX_NET_DEVICES=a:1":        {false, true},
		"UCX_TLS=rc,self UCX_NET_DEVICES=a:1,b:1":       {false, false},
		"UCX_TLS=rc,self UCX_NET_DEVICES=a:1,b:1,c:1":   {true, true},
		"UCX_TLS=rc,tcp,self UCX_NET_DEVICES=a:1,eth0,": {false, false},
	} {
		w := want(settings)
		assert.Equal(t, expected, [2]bool{w.MayMiss(all), w.MayMiss(here)}, settings)
	}
	assert.True(t, want("UCX_TLS=rc,self UCX_NET_DEVICES=a:1").MayMiss(Host{Here: 1, Ranks: 1}))
}
