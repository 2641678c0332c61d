// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"context"
	"math"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/endpoints/engine/greet"
)

// alone returns process 0 of two, with ranks 0 and 1, whose peer is the test: it has no connection.
func alone(t testing.TB) (*Node, *link) {
	n := &Node{options: Options{Peers: []Peer{{First: 0, Ports: 2, Address: "here"}, {First: 2, Ports: 2, Address: "there"}}}}
	require.NoError(t, n.options.check())
	require.NoError(t, n.place())
	n.open, n.close = context.WithCancel(context.Background())
	n.close() // it dials nobody
	n.links[1].in.open(&n.buffers)
	return n, n.links[1]
}

// feed has a link find bytes as if they had come, in pieces.
func (l *link) feed(b []byte, piece int) bool {
	l.in.Lock()
	defer l.in.Unlock()
	for len(b) > 0 {
		part := b[:min(len(b), max(piece, 1))]
		b = b[len(part):]
		in := &l.in
		in.last = copy(in.buffer, in.buffer[in.first:in.last])
		in.first = 0
		in.last += copy(in.buffer[in.last:], part)
		in.received += uint64(len(part))
		if !l.parse() {
			l.buryHeld(broken)
			return false
		}
		if l.fate.Load() != fine {
			return true
		}
	}
	return true
}

// Each frame that makes no sense cuts its sender off, and what makes sense does not.
func TestFramesMustMakeSense(t *testing.T) {
	of := func(kind uint32) frame.Header { return frame.Header{Kind: kind, From: 2, To: 1} }
	var offered, pulled uint64 // keys
	with := func(h frame.Header, change func(h *frame.Header)) frame.Header { change(&h); return h }
	for name, c := range map[string]struct {
		frame  func() []byte
		cutOff bool
	}{
		"message":      {func() []byte { return carriertest.Forged(of(frameMessage), 1, 2) }, false},
		"no kind":      {func() []byte { return carriertest.Forged(of(0)) }, true},
		"unknown kind": {func() []byte { return carriertest.Forged(of(framePartCame + 1)) }, true},
		"of no rank": {func() []byte {
			return carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.From = -1 }), 1)
		}, true},
		"of another's rank": {func() []byte {
			return carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.From = 0 }), 1)
		}, true},
		"to no rank": {func() []byte {
			return carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.To = 2 }), 1)
		}, true},
		"message, too long": {func() []byte {
			return carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.Length = frame.MaxEager + 1 }))
		}, true},
		"offer":             {func() []byte { return carriertest.Forged(of(frameOffer), 7, 1<<40) }, false},
		"offer of nothing":  {func() []byte { return carriertest.Forged(of(frameOffer), 7, 0) }, true},
		"offer of too much": {func() []byte { return carriertest.Forged(of(frameOffer), 7, math.MaxUint64) }, true},
		"offer, too short":  {func() []byte { return carriertest.Forged(of(frameOffer), 7) }, true},
		"pull":              {func() []byte { return carriertest.Forged(of(framePull), offered, 5, 100_000) }, false},
		"pull of nothing":   {func() []byte { return carriertest.Forged(of(framePull), offered, 0, 0) }, false},
		"pull, twice":       {func() []byte { return bytes.Repeat(carriertest.Forged(of(framePull), offered, 5, 100_000), 2) }, true},
		"pull of too much":  {func() []byte { return carriertest.Forged(of(framePull), offered, 5, 100_001) }, true},
		"pull, made up":     {func() []byte { return carriertest.Forged(of(framePull), offered+1<<32, 5, 1) }, true},
		"pull by another": {func() []byte {
			return carriertest.Forged(with(of(framePull), func(h *frame.Header) { h.From = 3 }), offered, 5, 1)
		}, true},
		"data": {func() []byte { return carriertest.Forged(of(frameData), pulled, 1, 2) }, false},
		"data, too much": {func() []byte {
			return carriertest.Forged(of(frameData), append([]uint64{pulled}, make([]uint64, 5)...)...)
		}, true},
		"data, empty":           {func() []byte { return carriertest.Forged(of(frameData), pulled) }, true},
		"data that nobody asks": {func() []byte { return carriertest.Forged(of(frameData), pulled+1<<32, 1) }, true},
		"data of another": {func() []byte {
			return carriertest.Forged(with(of(frameData), func(h *frame.Header) { h.From = 3 }), pulled, 1)
		}, true},
		"credit that is due":    {func() []byte { return carriertest.Forged(of(frameCredit), 64) }, false},
		"credit, too much":      {func() []byte { return carriertest.Forged(of(frameCredit), 65) }, true},
		"credit, far too much":  {func() []byte { return carriertest.Forged(of(frameCredit), math.MaxUint64) }, true},
		"acknowledges nothing":  {func() []byte { return carriertest.Forged(of(frameAck), 0) }, false},
		"acknowledges too much": {func() []byte { return carriertest.Forged(of(frameAck), 1<<20) }, true},
		"bye":                   {func() []byte { return carriertest.Forged(of(frameBye)) }, false},
		"part, by the stream":   {func() []byte { return carriertest.Forged(of(framePart), pulled, 0, 1, 2, 3, 4) }, true},
		"part that has come":    {func() []byte { return carriertest.Forged(of(framePartCame), offered, 0) }, true},
		"rests":                 {func() []byte { return carriertest.Forged(of(frameRest), 0, 0) }, false},
		"rests, too far on":     {func() []byte { return carriertest.Forged(of(frameRest), 1<<20, 0) }, true},
		"rests, too short":      {func() []byte { return carriertest.Forged(of(frameRest), 0) }, true},
		"bye, and more":         {func() []byte { return carriertest.Forged(of(frameBye), 1) }, true},
		"above the window": {func() []byte {
			return bytes.Repeat(carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.Length = 8 }), 1), 1<<20/72+1)
		}, true},
	} {
		for _, piece := range []int{1 << 17, 7} {
			t.Run(name, func(t *testing.T) {
				n, l := alone(t)
				_, err := n.port(1).Send(2, 0, 0, make([]byte, 100_000), 0)
				require.NoError(t, err)
				l.out.sends.Used(func(key uint64, _ *send) { offered = key })
				require.True(t, l.feed(carriertest.Forged(of(frameOffer), 9, 32), 1000))
				var e carrier.Event
				require.True(t, n.port(1).take(&e))
				_, err = n.port(1).Fetch(&e.Cell, make([]byte, 32), 0)
				require.NoError(t, err)
				l.in.receives.Used(func(key uint64, _ *receive) { pulled = key })
				require.Equal(t, !c.cutOff, l.feed(c.frame(), piece))
				if c.cutOff {
					require.ErrorContains(t, n.Gone(2), "rank 2 is gone: what its process at there sends makes no sense")
				}
			})
		}
	}
}

// Contract: whatever comes, in whatever pieces, it is taken or cuts the peer off; what
// arrived can be fetched, and is no more than the window of each port.
func FuzzFrames(f *testing.F) {
	all := carriertest.Forged(frame.Header{Kind: frameMessage, From: 2, To: 1}, 1, 2)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameMessage, From: 3, To: 0, Length: 100}, make([]uint64, 13)...)[:frame.HeaderSize+100]...)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameOffer, From: 2, To: 0}, 7, 500)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: framePull, From: 2, To: 1}, 1<<32, 5, 100_000)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameData, From: 2, To: 0}, 1<<32, 1, 2)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameCredit, From: 2, To: 1}, 64)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameAck}, 0)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameRest}, 0, 0)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: framePartCame, From: 2, To: 1}, 1<<32, 0)...)
	all = append(all, carriertest.Forged(frame.Header{Kind: frameBye})...)
	f.Add(all, uint16(1))
	f.Add(all, uint16(1000))
	f.Fuzz(func(t *testing.T, b []byte, piece uint16) {
		n, l := alone(t)
		_, err := n.port(1).Send(2, 0, 0, make([]byte, 100_000), 0)
		require.NoError(t, err)
		for begin := 0; begin < len(b); begin += 4096 {
			l.feed(b[begin:min(begin+4096, len(b))], int(piece))
			for i, p := range n.ports {
				require.LessOrEqual(t, l.in.owed[i].Load(), int64(n.options.Window))
				var e carrier.Event
				for p.take(&e) {
					if e.Kind == carrier.Arrived {
						size := min(carrier.Bytes(&e.Cell), 1<<17)
						_, err := p.Fetch(&e.Cell, make([]byte, size), 1)
						if l.fate.Load() == fine {
							require.NoError(t, err)
						}
					}
				}
			}
			if l.fate.Load() != fine {
				return
			}
		}
	})
}

// Contract: whatever a stranger says, it is not let in, and the answer comes to an end.
func FuzzGreeting(f *testing.F) {
	h := greet.Hello{From: 1, To: 0, Purpose: forNudge, Number: 9}
	f.Add(append(h.Encode(carrierName), make([]byte, greet.NoteSize)...))
	f.Add([]byte(carrierName))
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		go func() { // says all, whatever the answers
			_ = theirs.SetDeadline(time.Now().Add(carriertest.Within))
			_, _ = theirs.Write(b)
			theirs.Close()
		}()
		go func() {
			for buf := make([]byte, greet.NoteSize); ; {
				if _, err := theirs.Read(buf); err != nil {
					return
				}
			}
		}()
		_ = ours.SetDeadline(time.Now().Add(carriertest.Within))
		host := newTalk(ours, secret)
		_, _, err := host.challenge()
		require.Error(t, err)
		ours.Close()
		guest := newTalk(&recording{Conn: ours, says: bytes.NewReader(b)}, secret)
		_, _, err = guest.open(h, func() uint64 { return 0 })
		require.Error(t, err)
	})
}

// A recording answers what it is to answer.
type recording struct {
	net.Conn
	says *bytes.Reader
}

func (r *recording) Write(b []byte) (int, error) { return len(b), nil }
func (r *recording) Read(b []byte) (int, error)  { return r.says.Read(b) }
