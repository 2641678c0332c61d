// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
)

// alone returns process 0 of two, with ranks 0 and 1, whose peer is the test. There is no device, and no connection.
func alone(t testing.TB) (*Node, *link) {
	n := &Node{options: Options{Peers: []Peer{{First: 0, Ports: 2, Rails: 2, Address: "here"}, {First: 2, Ports: 2, Address: "there"}}}}
	require.NoError(t, n.options.check())
	for i := range 2 {
		r := &rail{node: n, index: i, slots: 2} // none is posted: it starves
		var err error
		r.cache, err = regcache.New(anything{}, regcache.Options{Bytes: 1 << 20})
		require.NoError(t, err)
		n.rails = append(n.rails, r)
	}
	require.NoError(t, n.place())
	n.open, n.close = context.WithCancel(context.Background())
	n.close()                      // it dials nobody
	n.links[1].wounded.Store(true) // and asks no device for anything
	return n, n.links[1]
}

// anything registers any memory, for no device.
type anything struct{}

func (anything) Register(regcache.Range, regcache.Access) (m regcache.Memory, err error) { return }
func (anything) Deregister(regcache.Memory)                                              {}

// offered has rank 1 offer a message to rank 2, and returns the offer's key.
func (l *link) offered(t testing.TB) uint64 {
	buf := make([]byte, 1000)
	region, err := l.lanes[0].rail.cache.AcquireBytes(buf, verbs.RemoteRead)
	require.NoError(t, err)
	key, noted := l.lanes[1].note(send{buf: buf, region: region, port: l.node.port(1), to: 2})
	require.True(t, noted)
	return key
}

// feed has a link find a frame as if it had come by the lane for rank 1, or by the other one if its first bytes say so.
func (l *link) feed(b []byte) bool {
	a := l.lanes[1]
	if strings.HasPrefix(string(b), otherLane) {
		a, b = l.lanes[0], b[len(otherLane):]
	}
	if l.fate.Load() == fine {
		a.lock.Lock()
		kept, sense := a.frameCame(b, 0)
		a.lock.Unlock()
		if kept {
			panic("a rail that starves keeps no slot")
		}
		if !sense {
			l.bury(broken, "")
		}
	}
	return l.fate.Load() == fine
}

// otherLane stands before a frame of a test that comes by the lane for rank 0.
const otherLane = "lane 0: "

// frames are what a peer sends; the last one makes sense, or cuts it off.
func frames(offered uint64) map[string]struct {
	frames [][]byte
	cutOff bool
} {
	of := func(kind uint32) frame.Header { return frame.Header{Kind: kind, From: 2, To: 1} }
	with := func(h frame.Header, change func(h *frame.Header)) frame.Header { change(&h); return h }
	type sent = struct {
		frames [][]byte
		cutOff bool
	}
	one := func(h frame.Header, payload ...uint64) [][]byte { return [][]byte{carriertest.Forged(h, payload...)} }
	message := carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.Length = 8 }), 1)
	return map[string]sent{
		"message":                     {one(of(frameMessage), 1, 2), false},
		"message of 1,000 bytes":      {one(of(frameMessage), make([]uint64, 125)...), false},
		"no header":                   {[][]byte{message[:frame.HeaderSize-1]}, true},
		"nothing":                     {[][]byte{nil}, true},
		"message, cut":                {[][]byte{message[:frame.HeaderSize+7]}, true},
		"message, and more":           {[][]byte{append(slices.Clone(message), 0)}, true},
		"no kind":                     {one(of(0)), true},
		"unknown kind":                {one(of(frameCredit+1), 1), true},
		"of no rank":                  {one(with(of(frameMessage), func(h *frame.Header) { h.From = -1 }), 1), true},
		"of another's rank":           {one(with(of(frameMessage), func(h *frame.Header) { h.From = 0 }), 1), true},
		"to no rank":                  {one(with(of(frameMessage), func(h *frame.Header) { h.To = 2 }), 1), true},
		"message, too long":           {one(of(frameMessage), make([]uint64, frame.MaxEager/frame.WordSize+1)...), true},
		"offer":                       {one(of(frameOffer), 7, 1<<40, 0x1000, 5), false},
		"offer of nothing":            {one(of(frameOffer), 7, 0, 0x1000, 5), true},
		"offer of too much":           {one(of(frameOffer), 7, math.MaxUint64, 0x1000, 5), true},
		"offer, too short":            {one(of(frameOffer), 7, 1, 0x1000), true},
		"taken":                       {one(of(frameTaken), offered), false},
		"taken twice":                 {[][]byte{carriertest.Forged(of(frameTaken), offered), carriertest.Forged(of(frameTaken), offered)}, true},
		"taken, made up":              {one(of(frameTaken), offered+1<<32), true},
		"taken by another":            {one(with(of(frameTaken), func(h *frame.Header) { h.From = 3 }), offered), true},
		"taken of another":            {one(with(of(frameTaken), func(h *frame.Header) { h.To = 0 }), offered), true},
		"credit that is not due":      {one(of(frameCredit), 1), true},
		"credit, far too much":        {one(of(frameCredit), math.MaxUint64), true},
		"message by another lane":     {[][]byte{append([]byte(otherLane), message...)}, true},
		"message for another lane":    {one(with(of(frameMessage), func(h *frame.Header) { h.To = 0 }), 1), true},
		"message by its lane":         {[][]byte{append([]byte(otherLane), carriertest.Forged(with(of(frameMessage), func(h *frame.Header) { h.To = 0 }), 1)...)}, false},
		"taken by another lane":       {[][]byte{append([]byte(otherLane), carriertest.Forged(of(frameTaken), offered)...)}, true},
		"above the window, by one":    {slices.Repeat([][]byte{message}, 1<<20/72+1), true},
		"up to the window, unfetched": {slices.Repeat([][]byte{message}, 1<<20/72), false},
	}
}

// Each frame that makes no sense cuts its sender off, and what makes sense does not.
func TestFramesMustMakeSense(t *testing.T) {
	for name := range frames(0) {
		t.Run(name, func(t *testing.T) {
			n, l := alone(t)
			c := frames(l.offered(t))[name]
			fine := true
			for i, frame := range c.frames {
				fine = l.feed(frame)
				require.True(t, fine || i == len(c.frames)-1, "frame %d", i)
			}
			require.Equal(t, !c.cutOff, fine)
			if c.cutOff {
				require.ErrorContains(t, n.Gone(2), "rank 2 is gone: what its process at there sends makes no sense")
			}
		})
	}
}

// Contract: whatever frames come, each of a length that stands before it, they are taken or cut the peer off; what arrived can be
// fetched, and is no more than the window of each port; an offer ends once.
func FuzzFrames(f *testing.F) {
	for _, c := range frames(1 << 32) {
		var all []byte
		for _, frame := range c.frames[:min(len(c.frames), 3)] {
			all = append(binary.LittleEndian.AppendUint16(all, uint16(len(frame))), frame...)
		}
		f.Add(all)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, l := alone(t)
		l.offered(t)
		sent := 0
		for len(b) >= 2 {
			size := min(int(binary.LittleEndian.Uint16(b)), len(b)-2)
			alive := l.feed(b[2 : 2+size : 2+size])
			b = b[2+size:]
			for i, p := range n.ports {
				require.LessOrEqual(t, l.owedBy(p, 0).Load(), int64(n.options.Window), "rank %d", i)
				var e carrier.Event
				for p.take(&e) {
					switch e.Kind {
					case carrier.Sent:
						sent++
					case carrier.Arrived:
						size := min(carrier.Bytes(&e.Cell), 1<<17)
						require.GreaterOrEqual(t, size, 0)
						_, err := p.Fetch(&e.Cell, make([]byte, size), 1)
						if alive {
							require.NoError(t, err)
						}
					}
				}
			}
			if !alive {
				break
			}
		}
		l.bury(left, "")
		for p, e := n.port(1), new(carrier.Event); p.take(e); {
			if e.Kind == carrier.Sent {
				sent++
			}
		}
		require.Equal(t, 1, sent)
	})
}
