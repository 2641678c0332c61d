// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/internal/topology"
)

// tree reads a /sys: a line is a file and what it says.
func tree(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	recorded, err := os.ReadFile(filepath.Join("testdata", name+".sys"))
	require.NoError(t, err)
	sys := fstest.MapFS{}
	for line := range strings.Lines(string(recorded)) {
		if !strings.HasPrefix(line, "#") {
			path, text, found := strings.Cut(line, " = ")
			require.True(t, found, line)
			sys[path] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return sys
}

// What each machine's ports are: name, kind, state, Mb/s, file, address on the bus, node; GIDs, and the one that UCX takes.
func TestMachines(t *testing.T) {
	for machine, want := range map[string][]string{
		"hdr": {
			"mlx5_0:1 infiniband up 200000 uverbs0 0000:21:00.0 0 1 GIDs, 0 fe80::b859:9f03:d4:1a2e IB/RoCE v1",
			"mlx5_1:1 infiniband up 200000 uverbs1 0000:a1:00.0 1 1 GIDs, 0 fe80::b859:9f03:d4:2b3e IB/RoCE v1",
		},
		"roce-bond": {"mlx5_bond_0:1 ethernet up 100000 uverbs0 0000:3b:00.0 0 6 GIDs, 3 ::ffff:10.20.0.5 RoCE v2 bond0"},
		"soft-roce": {"rxe0:1 ethernet up 2500 uverbs0  -1 2 GIDs, 1 ::ffff:10.78.0.1 RoCE v2 eth0"},
		"port-down": {
			"ibp94s0f0:1 infiniband down 10000 uverbs0 0000:5e:00.0 0 1 GIDs, 0 fe80::ec0d:9a03:78:11aa IB/RoCE v1",
			"ibp94s0f1:1 infiniband init 100000 uverbs1 0000:5e:00.1 0 1 GIDs, 0 fe80::ec0d:9a03:78:11ab IB/RoCE v1",
		},
		"old-kernel": {
			"mlx4_0:1 infiniband up 56000 uverbs0 0000:04:00.0 -1 1 GIDs, 0 fe80::f452:1403:10:2f31",
			"mlx4_0:2 ethernet up 10000 uverbs0 0000:04:00.0 -1 2 GIDs, 1 ::ffff:192.168.1.7",
		},
	} {
		sys := tree(t, machine)
		var have []string
		for _, n := range ports(sys, topology.Read(sys, nil), names(sys, class), allGIDs) {
			gid, ok := n.GID()
			assert.True(t, ok, n.Name)
			line := fmt.Sprint(n.Name, " ", n.Kind, " ", n.State, " ", n.Speed, " ", n.Verbs, " ", n.PCI, " ", n.Node, " ", len(n.GIDs), " GIDs, ",
				gid.Index, " ", gid.Address, " ", gid.Type, " ", gid.Interface)
			have = append(have, strings.TrimSpace(line))
			assert.Equal(t, n.Name, fmt.Sprintf("%s:%d", n.Device, n.Port))
		}
		assert.Equal(t, want, have, machine)
	}
}

// Only the devices of the caller's network namespace are its own, though its /sys may show more, or lack one.
func TestPortsOfNamespace(t *testing.T) {
	sys := tree(t, "hdr")
	nics := ports(sys, topology.Read(sys, nil), []string{"mlx5_7", "mlx5_1"}, allGIDs)
	require.Len(t, nics, 1)
	assert.Equal(t, "mlx5_1:1", nics[0].Name)
}

// Briefly, a port has the first of its GIDs, and all else.
func TestPortsBriefly(t *testing.T) {
	sys := tree(t, "soft-roce")
	all, brief := ports(sys, topology.Read(sys, nil), names(sys, class), allGIDs), ports(sys, topology.Read(sys, nil), names(sys, class), 1)
	require.Greater(t, len(all[0].GIDs), 1)
	for i := range all {
		all[i].GIDs = all[i].GIDs[:1]
	}
	assert.Equal(t, all, brief)
}

func TestGIDThatUCXTakes(t *testing.T) {
	v4, v6 := netip.MustParseAddr("::ffff:10.0.0.1"), netip.MustParseAddr("fe80::1")
	table := []GID{{0, v6, "IB/RoCE v1", ""}, {1, v4, "IB/RoCE v1", ""}, {2, v6, Routed, ""}, {3, v4, Routed, ""}, {4, v4, Routed, ""}}
	for gids, want := range map[int]int{5: 3, 4: 3, 3: 2, 2: 1, 1: 0} {
		gid, ok := NIC{Kind: "ethernet", GIDs: table[:gids]}.GID()
		assert.True(t, ok)
		assert.Equal(t, want, gid.Index, gids)
		gid, _ = NIC{Kind: "infiniband", GIDs: table[:gids]}.GID()
		assert.Equal(t, 0, gid.Index)
	}
	_, ok := NIC{Kind: "ethernet"}.GID()
	assert.False(t, ok)
}

// A kernel without the family is no error, what goes wrong in one that has it is.
func TestMissing(t *testing.T) {
	assert.True(t, missing(os.NewSyscallError("socket", syscall.EPROTONOSUPPORT)))
	assert.False(t, missing(syscall.EPERM))
}

// A kernel that tells of devices which /sys does not show has not none.
func TestHidden(t *testing.T) {
	_, err := shown([]string{"a", "b"}, nil)
	assert.ErrorIs(t, err, ErrHidden)
	assert.ErrorContains(t, err, "a, b")
	ports, err := shown([]string{"a", "b"}, []NIC{{Name: "a:1"}})
	assert.NoError(t, err)
	assert.Len(t, ports, 1)
	_, err = shown(nil, nil)
	assert.NoError(t, err)
}

// A list that was cut is asked for again, but not for ever.
func TestWhole(t *testing.T) {
	for name, c := range map[string]struct {
		cut   int
		err   error
		asked int
		want  error
	}{
		"at once":    {0, nil, 1, nil},
		"cut twice":  {2, nil, 3, nil},
		"always cut": {100, nil, 10, netlink.ErrDumpInterrupted},
		"an error":   {0, unix.EPERM, 1, unix.EPERM},
	} {
		asked := 0
		list, err := whole(func() ([]int, error) {
			if asked++; asked <= c.cut {
				return []int{1}, netlink.ErrDumpInterrupted
			}
			return []int{1, 2}, c.err
		})
		assert.Equal(t, c.asked, asked, name)
		if assert.ErrorIs(t, err, c.want, name); c.want == nil {
			assert.Equal(t, []int{1, 2}, list, name)
		}
	}
}
