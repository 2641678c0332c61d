// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/pagetables"
)

func TestParseNIC(t *testing.T) {
	for line, want := range map[string]string{
		"-n 0":                  "want numbers from 1",
		"-rpp 2":                "say with -n how many",
		"-bind-to core":         "say with -n how many",
		"-n 4 -rpp 0":           "want numbers from 1",
		"-n 4 7":                "give no PID",
		"-bind-to core 7":       "give no PID",
		"-n 4 -bind-to corners": "-bind-to: \"corners\" is not one of",
		"eth0":                  "eth0 is no PID",
		"-x":                    "unknown option -x",
	} {
		_, err := parseNIC(strings.Fields(line))
		assert.ErrorContains(t, err, want, line)
	}
	r, err := parseNIC(strings.Fields("-json 7 8,9"))
	require.NoError(t, err)
	assert.Equal(t, nicRequest{perProcess: 1, json: true, pids: []int{7, 8, 9}}, r)
	r, err = parseNIC(strings.Fields("-n 4 -rpp 2 -bind-to core"))
	require.NoError(t, err)
	assert.Equal(t, "4 2 core", strings.Join([]string{string(rune('0' + r.ranks)), string(rune('0' + r.perProcess)), r.bind.String()}, " "))
}

func opened(thread int, device string, rc int) *ib.Context {
	return &ib.Context{Device: device, Thread: thread, QPs: map[string]int{"RC": rc, "UD": 1}, CQs: 3, MRs: 9}
}

// A context is the rank's whose thread has opened it. Of a process with one rank any thread may have.
func TestShareOfContexts(t *testing.T) {
	self := os.Getpid() // has a thread of that number, and none of those below
	a, b, helper, other := opened(1<<23, "rxe0", 4), opened(1<<23+1, "rxe0", 5), opened(self, "rxe0", 6), opened(1<<23+2, "rxe0", 7)
	all := []*ib.Context{b, other, a, helper}
	two := &pagetables.Process{PID: self, Ranks: []pagetables.Rank{{Rank: 2, Thread: 1 << 23}, {Rank: 3, Thread: 1<<23 + 1}}}
	assert.Equal(t, []rankUse{{2, 0, self, []*ib.Context{a}}, {3, 0, self, []*ib.Context{b}}, {-1, 0, self, []*ib.Context{helper}}}, share(two, all))
	one := &pagetables.Process{PID: self, Ranks: []pagetables.Rank{{Rank: 5, Thread: 1 << 23}}}
	assert.Equal(t, []rankUse{{5, 0, self, []*ib.Context{a, helper}}}, share(one, all))
	ended := &pagetables.Process{PID: self, Ranks: []pagetables.Rank{{Rank: 5, Thread: 0}, {Rank: 6, Thread: 0}}}
	assert.Equal(t, []rankUse{{5, 0, self, nil}, {6, 0, self, nil}}, share(ended, []*ib.Context{opened(0, "rxe0", 1)}))
}

func TestFormulaeOfNode(t *testing.T) {
	ranks := []rankUse{{0, 0, 9, []*ib.Context{opened(9, "rxe0", 4), opened(9, "rxe1", 4)}}, {1, 0, 9, []*ib.Context{opened(10, "rxe0", 4)}}}
	sum := count(ranks, []string{"PMI_SIZE=6", "MPI_LOCALNRANKS=2"})
	assert.Equal(t, &nodeCount{QPs: map[string]int{"RC": 12, "UD": 3}, Formulae: &formulae{Here: 2, Elsewhere: 4, NICs: 2, RC: 16, XRC: 8, UD: 4}}, sum)
	for _, env := range []string{"PMI_SIZE=6", "MPI_LOCALNRANKS=2", "PMI_SIZE=6 MPI_LOCALNRANKS=3"} {
		assert.Nil(t, count(ranks, strings.Fields(env)).Formulae, env)
	}
}

func TestPrintNICs(t *testing.T) {
	report := nicReport{
		NICs: []ib.NIC{
			{Name: "mlx5_0:1", RDMA: true, Kind: "ethernet", State: "up", Speed: 2500, Node: 1, CPUs: "0-7", PCI: "0000:21:00.0",
				GIDs: []ib.GID{{Index: 0, Address: netip.MustParseAddr("fe80::1"), Type: "IB/RoCE v1", Interface: "eth0"}, {Index: 3, Address: netip.MustParseAddr("::ffff:10.0.0.1"), Type: "RoCE v2", Interface: "eth0"}}},
			{Name: "lo", Kind: "loopback", State: "unknown", Node: -1, CPUs: "0-7", Addresses: []string{"127.0.0.1/8", "::1/128"}},
		},
		Rails: []rail{{0, "0-3", "mlx5_0:1"}, {1, "4-7", ""}},
	}
	var out strings.Builder
	require.NoError(t, report.print(&out, false))
	assert.NotContains(t, out.String(), "no RDMA device")
	assert.Equal(t, `NAME      KIND           STATE    Gb/s  NODE  CPUS  PCI           ADDRESSES
mlx5_0:1  ethernet RDMA  up       2.5   1     0-7   0000:21:00.0  GID 3 of 2: ::ffff:10.0.0.1 RoCE v2 eth0
lo        loopback       unknown  -     -     0-7   -             127.0.0.1/8 ::1/128

RANK  CPUS  NIC
0     0-3   mlx5_0:1
1     4-7   -
`, out.String())

	report.NICs, report.Rails = report.NICs[1:], nil
	out.Reset()
	require.NoError(t, report.print(&out, false))
	assert.Equal(t, `NAME  KIND      STATE    Gb/s  NODE  CPUS  PCI  ADDRESSES
lo    loopback  unknown  -     -     0-7   -    127.0.0.1/8 ::1/128

This host shows no RDMA device.
`, out.String())

	report = nicReport{Ranks: []rankUse{{0, 0, 9, []*ib.Context{opened(9, "rxe0", 4)}}, {1, 0, 9, nil}, {-1, 0, 9, []*ib.Context{opened(7, "rxe1", 4)}}}}
	report.Sum = count(report.Ranks, []string{"PMI_SIZE=4", "MPI_LOCALNRANKS=2"})
	out.Reset()
	require.NoError(t, report.print(&out, false))
	assert.Equal(t, `RANK  PID  DEVICE  RC QPS  UD QPS  CQS  MRS
0     9    rxe0    4       1       3    9
1     9    none    -       -       -    -
-     9    rxe1    4       1       3    9

Queue pairs of these ranks: 8 RC 2 UD
By formula for 2 here and 2 elsewhere, each by 1 NIC(s): 4 RC, or 2 XRC, or 2 UD
`, out.String())

	report = nicReport{Ranks: []rankUse{{0, 0, 9, nil}}}
	report.Sum = count(report.Ranks, []string{"PMI_SIZE=2", "MPI_LOCALNRANKS=1"})
	out.Reset()
	require.NoError(t, report.print(&out, false))
	assert.Equal(t, `RANK  PID  DEVICE  CQS  MRS
0     9    none    -    -

These ranks have made no queue pairs.
`, out.String())
}
