// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
)

var secret = greet.Secret{1, 2, 3}

// open opens the port that the tests are to use.
func open(t testing.TB) *Device {
	t.Helper()
	name := os.Getenv("TPSL_TEST_VERBS")
	if name == "" {
		t.Skip("needs an RDMA port, named in TPSL_TEST_VERBS: TestCarrier of tests/rdma runs this in a guest")
	}
	nic, err := Choose(name)
	require.NoError(t, err)
	d, err := Open(nic)
	require.NoError(t, err)
	return d
}

// joined returns nodes of this one process that are joined as several are, of so many ranks each and one rail.
func joined(t testing.TB, o Options, ports ...int) (nodes []*Node) {
	t.Helper()
	return joinedByRails(t, o, make([]int, len(ports)), ports...)
}

// railPlaces are the NUMA nodes of the rails that joinedByRails makes; nil: any.
var railPlaces []int

// joinedByRails returns such nodes with so many rails each; 0 stands for one.
func joinedByRails(t testing.TB, o Options, rails []int, ports ...int) (nodes []*Node) {
	t.Helper()
	var devices [][]Rail
	var peers []Peer
	var listeners []*net.TCPListener
	first := 0
	for i, n := range ports {
		var own []Rail
		for k := range max(rails[i], 1) {
			place := AnyNode
			if railPlaces != nil {
				place = railPlaces[k]
			}
			own = append(own, Rail{open(t), place})
		}
		devices = append(devices, own)
		l, err := greet.Listen("127.0.0.1:0")
		require.NoError(t, err)
		listeners, peers = append(listeners, l), append(peers, Peer{First: first, Ports: n, Rails: rails[i], Address: l.Addr().String()})
		first += n
	}
	for i := range ports {
		o := o
		o.Peers, o.Process, o.Secret = peers, i, secret
		n, err := Join(listeners[i], devices[i], o)
		require.NoError(t, err)
		nodes = append(nodes, n)
	}
	t.Cleanup(func() { carriertest.CloseAll(t, nodes) })
	return nodes
}

// pair returns the ports of two nodes with one rank each.
func pair(t testing.TB, o Options) (a, b *Port) {
	t.Helper()
	nodes := joined(t, o, 1, 1)
	return nodes[0].port(0), nodes[1].port(1)
}

// sender is a port with what moves it on.
func sender(p *Port) carriertest.Sender {
	return carriertest.Sender{Port: p, Progress: p.node.progressAll}
}

// mustSend sends when there is room.
func mustSend(t testing.TB, p *Port, to int, tag int32, buf []byte, handle uint64) carrier.Outcome {
	t.Helper()
	return sender(p).MustSend(t, to, tag, buf, handle)
}
