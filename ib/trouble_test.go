// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/topology/topologytest"
)

func want(settings string) Want { return ReadWant(strings.Fields(settings)) }

func TestReadWant(t *testing.T) {
	for settings, wanted := range map[string]struct {
		rdma, tcp, memory bool
		ports             string
	}{
		"":                                   {false, true, true, ""},
		"UCX_TLS=all":                        {false, true, true, ""},
		"UCX_TLS=tcp,self":                   {false, true, false, ""},
		"UCX_TLS=^tcp":                       {false, false, true, ""},
		"UCX_TLS=^ib,rc":                     {false, true, true, ""},
		"UCX_TLS=rc,self":                    {true, false, false, ""},
		"UCX_TLS=rc_x,self":                  {true, false, false, ""},
		"UCX_TLS=self,ud:aux,tcp":            {true, true, false, ""},
		"UCX_TLS=dc_mlx5,sm,self":            {true, false, true, ""},
		"UCX_TLS=ib,posix,tcp":               {true, true, true, ""},
		"UCX_TLS=rc,all":                     {true, false, false, ""}, // 1.13.1 leaves all out
		"UCX_TLS=all,rc":                     {false, true, true, ""},  // it says that this is an error
		"UCX_TLS=^all":                       {false, true, true, ""},
		"UCX_TLS=^tcp_x,posix":               {false, true, true, ""},
		"UCX_TLS=^sm":                        {false, true, false, ""},
		"UCX_TLS=^shm,tcp":                   {false, false, false, ""},
		"UCX_TLS=^mm":                        {false, true, false, ""},
		"UCX_TLS=^rc UCX_NET_DEVICES=m:1":    {true, false, true, "m:1"},
		"UCX_TLS=^ib UCX_NET_DEVICES=m:1":    {false, false, true, "m:1"},
		"UCX_TLS=rc UCX_NET_DEVICES=lo,all":  {true, false, false, ""},
		"UCX_TLS=rc UCX_NET_DEVICES=^m:1":    {false, false, false, ""}, // to 1.13.1 that is no device at all, as is m:*, or m
		"UCX_TLS=rc,tcp UCX_NET_DEVICES=^lo": {false, true, false, ""},
		"UCX_TLS=rc UCX_NET_DEVICES=m:*":     {false, false, false, ""},
		"UCX_TLS=rc UCX_NET_DEVICES=m*,a:1":  {false, false, false, "a:1"},
		"UCX_TLS=rc UCX_NET_DEVICES=m":       {false, false, false, ""},
		"UCX_NET_DEVICES=all":                {false, true, true, ""},
		"UCX_NET_DEVICES=eth0":               {false, true, true, ""},
		"UCX_NET_DEVICES=mlx5_0:1":           {true, false, true, "mlx5_0:1"},
		"UCX_NET_DEVICES=mlx5_0:1,eth0":      {true, true, true, "mlx5_0:1"},
		"UCX_NET_DEVICES=mlx5_0:1,mlx5_1:2":  {true, false, true, "mlx5_0:1 mlx5_1:2"},
		"UCX_TLS=rc UCX_NET_DEVICES=eth0":    {false, false, false, ""}, // nothing is left: UCX says so
		"UCX_TLS=tcp UCX_NET_DEVICES=m:1":    {false, false, false, "m:1"},
		"UCX_TLS=rc,tcp UCX_NET_DEVICES=m:1": {true, false, false, "m:1"},
		"UCX_TLS=^tcp UCX_NET_DEVICES=m:1":   {true, false, true, "m:1"},
	} {
		w := want(settings)
		assert.Equal(t, wanted.rdma, w.RDMA, "RDMA of %s", settings)
		assert.Equal(t, wanted.tcp, w.TCP, "TCP of %s", settings)
		assert.Equal(t, wanted.memory, w.Memory, "memory of %s", settings)
		assert.Equal(t, wanted.ports, strings.Join(w.Ports, " "), "ports of %s", settings)
	}
}

func TestWithoutRDMA(t *testing.T) {
	for settings, without := range map[string]string{
		"UCX_TLS=rc,ud:aux,tcp,self":                          "UCX_TLS=tcp,self",
		"UCX_TLS=rc,tcp,self UCX_NET_DEVICES=m:1,eth0,m:2,lo": "UCX_TLS=tcp,self UCX_NET_DEVICES=eth0,lo",
		"UCX_NET_DEVICES=m:1,eth0":                            "UCX_NET_DEVICES=eth0",
		"UCX_TLS=rc,sm,self UCX_NET_DEVICES=m:1":              "UCX_TLS=sm,self",
		"UCX_NET_DEVICES=m:1":                                 "UCX_TLS=^ib",
		"UCX_TLS=^tcp UCX_NET_DEVICES=m:1,eth0":               "UCX_TLS=^tcp,ib",
		"UCX_TLS=rc,all,sm":                                   "UCX_TLS=sm",
	} {
		list := want(settings).WithoutRDMA()
		assert.Equal(t, without, strings.Join(list, " "), settings)
		assert.False(t, want(strings.Join(append([]string{settings}, list...), " ")).RDMA, settings)
	}
}

// What a user is told, on a host of two InfiniBand adapters, one of them down, and on one without.
func TestTrouble(t *testing.T) {
	up := NIC{Name: "a:1", RDMA: true, Device: "a", Port: 1, Kind: "infiniband", State: "up", Verbs: "uverbs0"}
	down := NIC{Name: "b:1", RDMA: true, Device: "b", Port: 1, Kind: "infiniband", State: "down", Verbs: "uverbs1"}
	roce := NIC{Name: "r:1", Device: "r", State: "down", Verbs: "uverbs2", GIDs: []GID{{Interface: "eth7"}}}
	armed := NIC{Name: "s:1", Device: "s", State: "armed", Verbs: "uverbs3"}
	silent := NIC{Name: "n:1", Device: "n", State: "unknown"}
	refuses := func(err error) func(string) error { return func(string) error { return err } }
	base := Host{Ports: []NIC{up, down}, Locked: math.MaxUint64, InProcess: 1, Here: 2, Ranks: 4}
	for name, c := range map[string]struct {
		settings string
		change   func(*Host)
		line     string
	}{
		"nothing asked for":   {"UCX_TLS=tcp,self", func(h *Host) { h.Ports = nil }, ""},
		"one that works":      {"UCX_TLS=rc,self", nil, ""},
		"the one that works":  {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1", nil, ""},
		"the one that is not": {"UCX_TLS=rc,self UCX_NET_DEVICES=b:1", nil, "RDMA port b:1 is down; bring it up (rdma link shows it), or allow TCP: UCX_TLS=rc,self,tcp and a network interface in UCX_NET_DEVICES"},
		"both":                {"UCX_TLS=rc,self UCX_NET_DEVICES=a:1,b:1", nil, "RDMA port b:1 is down; ranks use a:1; to mend it, bring it up (rdma link shows it)"},
		"TCP allowed":         {"UCX_NET_DEVICES=b:1,eth0", nil, "RDMA port b:1 is down; ranks use TCP; to mend it, bring it up (rdma link shows it)"},
		"no devices":          {"UCX_TLS=rc,self", func(h *Host) { h.Ports = nil }, "there is no RDMA device; load its driver (rdma link lists devices), or allow TCP: UCX_TLS=rc,self,tcp"},
		"no such port":        {"UCX_NET_DEVICES=c:1", nil, "RDMA port c:1 is not there; load its driver, or name one that is: a:1, b:1, or allow TCP: a network interface in UCX_NET_DEVICES"},
		"one of no such":      {"UCX_NET_DEVICES=c:1,a:1", nil, "RDMA port c:1 is not there; ranks use a:1; to mend it, load its driver, or name one that is: a:1, b:1"},
		"one host":            {"UCX_NET_DEVICES=c:1", func(h *Host) { h.Ports, h.Here = nil, 4 }, "RDMA port c:1 is not there; ranks use shared memory; to mend it, load its driver (rdma link lists devices)"},
		"one host, no memory": {"UCX_TLS=rc,self", func(h *Host) { h.Ports, h.Here = nil, 4 }, "there is no RDMA device; load its driver (rdma link lists devices), or allow TCP: UCX_TLS=rc,self,tcp"},
		"without TCP":         {"UCX_TLS=^tcp,sm UCX_NET_DEVICES=c:1,eth0", nil, "RDMA port c:1 is not there; load its driver, or name one that is: a:1, b:1, or allow TCP: UCX_TLS=^sm"},
		"without TCP alone":   {"UCX_TLS=^tcp UCX_NET_DEVICES=c:1", nil, "RDMA port c:1 is not there; load its driver, or name one that is: a:1, b:1, or allow TCP: UCX_TLS=all and a network interface in UCX_NET_DEVICES"},
		"one rank":            {"UCX_TLS=rc,self", func(h *Host) { h.Ports, h.Here, h.Ranks = nil, 1, 1 }, ""},
		"interface":           {"UCX_TLS=ib", func(h *Host) { h.Ports = []NIC{roce} }, "RDMA port r:1 is down; bring its network interface up (ip link set eth7 up), or allow TCP: UCX_TLS=ib,tcp"},
		"no subnet manager":   {"UCX_TLS=ib", func(h *Host) { h.Ports = []NIC{armed} }, "RDMA port s:1 is armed; start a subnet manager (opensm), or allow TCP: UCX_TLS=ib,tcp"},
		"no ib_uverbs":        {"UCX_TLS=ib", func(h *Host) { h.Ports = []NIC{silent} }, "RDMA device n has no file in /dev/infiniband; load ib_uverbs (modprobe ib_uverbs), or allow TCP: UCX_TLS=ib,tcp"},
		"no permission": {"UCX_TLS=ib", func(h *Host) { h.Open = refuses(unix.EACCES) },
			"/dev/infiniband/uverbs0 of RDMA device a cannot be opened: permission denied; let all read and write it (chmod a+rw), as rdma-core's udev rules do, or allow TCP: UCX_TLS=ib,tcp"},
		"no file": {"UCX_TLS=ib,tcp", func(h *Host) { h.Open = refuses(unix.ENOENT) },
			"/dev/infiniband/uverbs0 of RDMA device a cannot be opened: no such file or directory; ranks use TCP; to mend it, let udev make it, or give the container the device (--device /dev/infiniband)"},
		"it is broken": {"UCX_TLS=ib", func(h *Host) { h.Open = refuses(errors.New("input/output error")) },
			"/dev/infiniband/uverbs0 of RDMA device a cannot be opened: input/output error; see what the kernel says (dmesg), or allow TCP: UCX_TLS=ib,tcp"},
		"little memory": {"UCX_TLS=rc,self", func(h *Host) { h.Locked = 64 << 10 },
			"a process may lock 64 KiB of memory, but with RDMA device a it needs 51 MiB for a rank; raise it: ulimit -l unlimited (in limits.conf, or LimitMEMLOCK of sshd's or slurmd's unit), or allow TCP: UCX_TLS=rc,self,tcp"},
		"enough for a rank":    {"UCX_TLS=rc,self", func(h *Host) { h.Locked = 51 << 20 }, ""},
		"enough for datagrams": {"UCX_TLS=ud,self", func(h *Host) { h.Locked = 7 << 20 }, ""},
		"a smaller queue":      {"UCX_TLS=rc,self UCX_RC_RX_QUEUE_LEN=64", func(h *Host) { h.Locked = 8 << 20 }, ""},
		"not for two in a process": {"UCX_TLS=rc,tcp", func(h *Host) { h.Locked, h.InProcess = 51<<20, 2 },
			"a process may lock 51 MiB of memory, but with RDMA device a it needs 102 MiB for its 2 ranks; ranks use TCP; to mend it, raise it: ulimit -l unlimited (in limits.conf, or LimitMEMLOCK of sshd's or slurmd's unit)"},
	} {
		host, line := base, ""
		if c.change != nil {
			c.change(&host)
		}
		if trouble := want(c.settings).Trouble(host); trouble != nil {
			line = trouble.String()
		}
		assert.Equal(t, c.line, line, name)
	}
}

// Ranks that took any port that worked go by that one, and miss it when it is gone.
func TestSettled(t *testing.T) {
	host := Host{Ports: nicsOf(t, topologytest.TwoSockets), Here: 1, Ranks: 2}
	for i := range host.Ports {
		host.Ports[i].Verbs = "uverbs0"
	}
	host.Ports[1].State = "down"
	assert.Equal(t, []string{"mlx5_0:1"}, want("UCX_TLS=rc,self").Settled(host).Ports)
	assert.Equal(t, []string{"mlx5_0:1"}, want("UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1").Settled(host).Ports)
}

// A device without its port is explained when ranks have failed. That is no reason to refuse them: newer UCX know it.
func TestBare(t *testing.T) {
	host := Host{Ports: []NIC{{Name: "a:1", Device: "a", State: "up", Verbs: "uverbs0"}, {Name: "a:2", Device: "a", State: "up", Verbs: "uverbs0"}}, Locked: math.MaxUint64}
	for settings, line := range map[string]string{
		"UCX_TLS=rc,self UCX_NET_DEVICES=a":      "UCX_NET_DEVICES names RDMA device a without a port; name the port: a:1",
		"UCX_TLS=rc,self UCX_NET_DEVICES=eth0,a": "UCX_NET_DEVICES names RDMA device a without a port; name the port: a:1",
		"UCX_TLS=rc,self UCX_NET_DEVICES=b":      "",
		"UCX_TLS=rc,self UCX_NET_DEVICES=a:1":    "",
		"UCX_TLS=rc,self UCX_NET_DEVICES=^a":     "",
		"UCX_TLS=tcp UCX_NET_DEVICES=a":          "",
		"UCX_TLS=rc,tcp UCX_NET_DEVICES=b:1,lo":  "RDMA port b:1 is not there; load its driver, or name one that is: a:1, a:2",
	} {
		trouble := want(settings).Failed(host)
		assert.Equal(t, line != "", trouble != nil, settings)
		if trouble != nil {
			assert.Equal(t, line, trouble.String(), settings)
		}
	}
	assert.Nil(t, want("UCX_TLS=rc,self UCX_NET_DEVICES=a").Trouble(host))
}

func TestLockLimit(t *testing.T) {
	limit, err := LockLimit()
	require.NoError(t, err)
	assert.Positive(t, limit)
	assert.ErrorIs(t, OpenVerbs("none"), unix.ENOENT)
}
