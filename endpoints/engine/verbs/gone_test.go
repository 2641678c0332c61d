// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// die ends a node as the end of its process does: nobody listens, and its connections and queue pairs are no more.
func (n *Node) die() {
	n.close()
	n.listener.Close()
	for _, l := range n.links {
		if l != nil {
			l.bury(left, "")
		}
	}
}

// What a peer that has ended had sent is delivered; what was under way with it ends with an error
// that names it; others go on. It is the same whoever had dialled.
func TestEnded(t *testing.T) {
	testsupport.NothingLeft(t)
	const why = `^rank 1 is gone: its process has ended: its connection at 127\.0\.0\.1:\d+ is over$`
	nodes := joined(t, Options{}, 1, 1, 1)
	a, b, c := nodes[0].port(0), nodes[1].port(1), nodes[2].port(2)
	carriertest.Ended(t, a.node, sender(a), sender(b), sender(c), b.node.die, why)
	if _, err := c.Send(1, 7, 0, nil, 0); err != nil { // who had nothing to say to b finds out by this, or has done so
		carriertest.IsGone(t, err, why)
	}
	assert.Equal(t, carrier.Gone, carriertest.Await(t, c).Kind)
	carriertest.IsGone(t, c.node.Gone(1), why)
}

// A receive that is being read ends when its sender does, and not before the device has done with the buffer.
func TestEndedAmidst(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	require.Equal(t, carrier.Pending, mustSend(t, b, 0, 0, make([]byte, 64<<20), 0))
	offer := carriertest.Await(t, a)
	dst := make([]byte, 64<<20)
	done, err := a.Fetch(&offer.Cell, dst, 9)
	require.NoError(t, err)
	require.False(t, done)
	b.node.die()
	before := carriertest.Mourn(t, a.node, a, "its process has ended")
	require.Len(t, before, 1)
	carriertest.IsLost(t, before[0], carrier.Received, 9)
	carriertest.Fill(dst, 1)
	assert.Equal(t, carriertest.Filled(len(dst), 1), dst)
}

// A peer that leaves is gone, and all that it had sent has come; also if nobody looks before it has left.
func TestLeft(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, late := range []bool{false, true} {
		nodes := joined(t, Options{}, 1, 1)
		carriertest.Left(t, nodes[0], nodes[1], sender(nodes[1].port(1)), late, 50, 5000)
	}
}

// What was sent before there was a connection comes, though its sender leaves at once.
func TestLeftEarly(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	const count = 20
	for i := range count {
		outcome, err := b.Send(0, 7, int32(i), carriertest.Filled(100*i, i), 0)
		require.NoError(t, err)
		require.Equal(t, carrier.Done, outcome)
	}
	require.NoError(t, b.node.Close())
	before := carriertest.Mourn(t, a.node, a, "^rank 1 is gone: its process has closed its node$")
	require.Len(t, before, count)
	for i, e := range before {
		require.EqualValues(t, i, e.Cell.Tag)
		require.Equal(t, 100*i, carrier.Bytes(&e.Cell))
	}
}

// A goodbye that comes before the last frame waits for that.
func TestLastIsAwaited(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	mustSend(t, b, 0, 0, nil, 0)
	carriertest.Await(t, a)
	l := nodes[1].links[0]
	l.lock.Lock()
	require.NoError(t, l.say(sayBye, l.sent.Load()+1))
	l.lock.Unlock()
	require.Never(t, func() bool { return nodes[0].Gone(1) != nil || nodes[1].Gone(0) != nil }, 500*time.Millisecond, time.Millisecond)
	mustSend(t, b, 0, 5, nil, 0)
	before := carriertest.Mourn(t, a.node, a, "has closed its node$")
	require.Len(t, before, 1)
	assert.EqualValues(t, 5, before[0].Cell.Tag)
}

// A peer that takes connections and says nothing is gone after a while, and its rank is named.
func TestSilent(t *testing.T) {
	testsupport.NothingLeft(t)
	device := open(t)
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer deaf.Close()
	l, err := greet.Listen("127.0.0.1:0")
	require.NoError(t, err)
	peers := []Peer{{First: 0, Ports: 1, Address: l.Addr().String()}, {First: 1, Ports: 1, Address: deaf.Addr().String()}}
	n, err := Join(l, []Rail{{device, AnyNode}}, Options{Peers: peers, Patience: 500 * time.Millisecond})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	outcome, err := n.port(0).Send(1, 0, 0, nil, 0)
	require.NoError(t, err)
	require.Equal(t, carrier.Done, outcome, "it waits for the connection")
	carriertest.Mourn(t, n, n.port(0), "could not be reached at "+deaf.Addr().String()+" for too long")
}

// A queue pair that fails is named with its port, and ends the link on both sides.
func TestPairFails(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	mustSend(t, a, 1, 0, []byte("before"), 0)
	carriertest.Await(t, b)
	l := nodes[1].links[0].lanes[0]
	l.lock.Lock()
	require.NoError(t, l.pair.Read(id(ofRead, 0), l.at, 8, l.registered.Local, 0, 12345)) // of no memory of the peer's
	l.lock.Unlock()
	for e := carriertest.Await(t, b); e.Kind != carrier.Gone; e = carriertest.Await(t, b) {
	}
	carriertest.IsGone(t, nodes[1].Gone(0), `^rank 0 is gone: RDMA port .* does not reach its process at .*: remote access error`)
	carriertest.Mourn(t, a.node, a, "its process has ended")
}

// A frame that makes no sense cuts the peer off that has sent it by its device.
func TestCutOff(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	mustSend(t, b, 0, 3, nil, 0)
	assert.EqualValues(t, 3, carriertest.Await(t, a).Cell.Tag)
	l := nodes[1].links[0].lanes[0]
	l.lock.Lock()
	slot, payload := l.begin(frame.Header{Kind: frameMessage, From: 7, To: 0})
	l.put(slot, payload)
	l.lock.Unlock()
	carriertest.Mourn(t, a.node, a, "makes no sense$")
}

// Who has proved that it knows the secret has as much time for its queue pairs as the patience: its processor may have much else to do.
func TestSlowPairs(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	l := nodes[1].links[0]
	l.lock.Lock()
	mustSend(t, a, 1, 7, nil, 0)
	time.Sleep(greet.Limit + time.Second/2) // strangers would be dropped now
	l.lock.Unlock()
	assert.EqualValues(t, 7, carriertest.Await(t, b).Cell.Tag)
}

// Strangers, and who does not know the secret, are dropped, and harm nobody.
func TestStrangers(t *testing.T) {
	testsupport.NothingLeft(t)
	nodes := joined(t, Options{}, 1, 1)
	a, b := nodes[0].port(0), nodes[1].port(1)
	for _, says := range []func(c net.Conn) error{
		func(c net.Conn) error { _, err := c.Write(make([]byte, 1000)); return err },
		func(c net.Conn) error {
			k := greet.Talk{Conn: c, Carrier: carrierName, Secret: greet.Secret{9}}
			_, err := k.Open(greet.Hello{From: 0, To: 1, Purpose: forFrames}, func() []byte { return make([]byte, greet.HalfSize) })
			require.ErrorIs(t, err, greet.ErrStranger)
			return nil
		},
	} {
		c, err := net.Dial("tcp", nodes[1].listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, says(c))
		require.NoError(t, c.SetReadDeadline(time.Now().Add(carriertest.Within)))
		_, err = c.Read(make([]byte, 1))
		assert.Error(t, err, "it is closed")
		assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
		c.Close()
		mustSend(t, a, 1, 3, nil, 0)
		assert.EqualValues(t, 3, carriertest.Await(t, b).Cell.Tag)
	}
}
