// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package engine

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/endpoints/engine/verbs"
)

const byVerbs way = "verbs"

// Where an RDMA port is named, all tests run by it, and by nothing else: TestEngineByVerbs of tests/rdma has them run in a guest.
func init() {
	if os.Getenv("TPSL_TEST_VERBS") != "" {
		ways = []way{byVerbs}
		carriersBy[byVerbs] = overVerbs
	}
}

// overVerbs has processes listen on the loopback, and join by the port.
func overVerbs(t testing.TB, peers []tcp.Peer) (carriers []carrier.Carrier) {
	t.Helper()
	nic, err := verbs.Choose(os.Getenv("TPSL_TEST_VERBS"))
	require.NoError(t, err)
	var own []verbs.Peer
	var listeners []*net.TCPListener
	for _, p := range peers {
		l, err := greet.Listen("127.0.0.1:0")
		require.NoError(t, err)
		listeners, own = append(listeners, l), append(own, verbs.Peer{First: p.First, Ports: p.Ports, Address: l.Addr().String()})
	}
	for i, l := range listeners {
		d, err := verbs.Open(nic)
		require.NoError(t, err)
		n, err := verbs.Join(l, []verbs.Rail{{Device: d, Node: verbs.AnyNode}}, verbs.Options{Peers: own, Process: i, Secret: greet.Secret{7}})
		require.NoError(t, err)
		carriers = append(carriers, n)
	}
	return carriers
}
