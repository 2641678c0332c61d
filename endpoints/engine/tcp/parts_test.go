// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/carrier/carriertest"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
)

// aloneByRails returns process 0 of two with two rails, whose peer is the test. The node waits for a message of this size,
// with this key, and the other end of each rail is the test's.
func aloneByRails(t testing.TB, size int) (n *Node, l *link, dst []byte, key uint64, rails [2]int) {
	n, _ = alone(t)
	for i := range n.options.Peers {
		n.options.Peers[i].Rails = []string{"on another network"}
	}
	n.links[1] = newLink(n, 1)
	l = n.links[1]
	l.in.open(&n.buffers)
	for i := range rails {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		l.in.rails[i].socket, rails[i] = pair[0], pair[1]
	}
	t.Cleanup(func() {
		for i, socket := range rails {
			_ = unix.Close(socket)
			l.closeIn(i)
		}
	})
	require.True(t, l.feed(carriertest.Forged(frame.Header{Kind: frameOffer, From: 2, To: 1}, 9, uint64(size)), 1000))
	var e carrier.Event
	require.True(t, n.port(1).take(&e))
	dst = make([]byte, size)
	_, err := n.port(1).Fetch(&e.Cell, dst, 5)
	require.NoError(t, err)
	l.in.receives.Used(func(k uint64, _ *receive) { key = k })
	return n, l, dst, key, rails
}

// bring writes bytes into a rail and has its link read them.
func (l *link) bring(i, socket int, b []byte) {
	l.in.Lock()
	defer l.in.Unlock()
	for len(b) > 0 {
		n, err := unix.Write(socket, b)
		if err != nil && err != unix.EAGAIN {
			return // the rail has ended
		}
		b = b[max(n, 0):]
		l.readParts(i)
	}
	for range 64 << 10 / readsAtOnce {
		before := l.in.rails[i]
		if l.readParts(i); l.in.rails[i] == before {
			return
		}
	}
}

// part returns a part as it travels.
func part(h frame.Header, key, number uint64, bytes []byte) []byte {
	h.Kind, h.Length = framePart, uint32(2*frame.WordSize+len(bytes))
	return append(carriertest.Forged(h, key, number), bytes...)
}

// Parts come in any order, by any rail, twice and in pieces. Each is acknowledged once, and once the message is there, nobody
// writes into its buffer.
func TestPartsInAnyOrder(t *testing.T) {
	size := 3*partSize + 1000
	n, l, dst, key, rails := aloneByRails(t, size)
	message, from := carriertest.Filled(size, 1), frame.Header{From: 2, To: 1}
	of := func(number int) []byte { return part(from, key, uint64(number), partOf(message, number)) }
	half := of(1)[:partSize/2]
	l.bring(1, rails[1], half)
	for _, number := range []int{3, 1, 1, 0, 3} {
		l.bring(0, rails[0], of(number))
	}
	require.Equal(t, 2*partSize+1000, l.in.receives.Find(key).got)
	l.bring(1, rails[1], make([]byte, len(of(1))-len(half))) // the rest of what had begun, of no use any more
	l.bring(0, rails[0], of(2))
	var e carrier.Event
	require.True(t, n.port(1).take(&e))
	require.Equal(t, carrier.Received, e.Kind)
	require.Equal(t, message, dst)
	clear(dst)
	l.bring(1, rails[1], of(0))
	require.False(t, n.port(1).take(&e))
	require.True(t, bytes.Equal(dst, make([]byte, size)), "its owner has the buffer")
	var acknowledged []uint64
	for _, s := range l.out.segments {
		for b := s.data; len(b) > 0; {
			h := frame.Decode(b)
			if h.Kind == framePartCame {
				require.Equal(t, uint64(9), frame.Word(b[frame.HeaderSize:], 0), "the offer's key")
				acknowledged = append(acknowledged, frame.Word(b[frame.HeaderSize:], 1))
			}
			b = b[frame.HeaderSize+int(h.Length):]
		}
	}
	require.Equal(t, []uint64{3, 1, 0, 2}, acknowledged)
	require.Equal(t, int32(fine), l.fate.Load())
}

// A part that makes no sense cuts its sender off.
func TestPartsMustMakeSense(t *testing.T) {
	from, other := frame.Header{From: 2, To: 1}, frame.Header{From: 3, To: 1}
	for name, b := range map[string]func(key uint64) []byte{
		"no part of it":      func(key uint64) []byte { return part(from, key, 3, make([]byte, partSize)) },
		"too short":          func(key uint64) []byte { return part(from, key, 0, make([]byte, partSize-1)) },
		"the last, too long": func(key uint64) []byte { return part(from, key, 2, make([]byte, 101)) },
		"too long":           func(key uint64) []byte { return part(from, key, 0, make([]byte, partSize+1)) },
		"empty":              func(key uint64) []byte { return part(from, key, 0, nil) },
		"of another":         func(key uint64) []byte { return part(other, key, 0, make([]byte, partSize)) },
		"of no rank":         func(key uint64) []byte { return part(frame.Header{From: 9, To: 1}, key, 0, make([]byte, partSize)) },
		"another kind": func(uint64) []byte {
			return append(carriertest.Forged(frame.Header{Kind: frameAck}, 0), make([]byte, 100)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, l, _, key, rails := aloneByRails(t, 2*partSize+100)
			l.bring(0, rails[0], b(key))
			require.Equal(t, int32(broken), l.fate.Load())
		})
	}
	_, l, _, key, rails := aloneByRails(t, 2*partSize+100)
	l.bring(0, rails[0], part(from, key+1<<32, 7, make([]byte, 10))) // late
	l.bring(0, rails[0], part(from, key, 0, make([]byte, partSize)))
	require.Equal(t, int32(fine), l.fate.Load())
	require.Equal(t, partSize, l.in.receives.Find(key).got)
	require.False(t, l.feed(carriertest.Forged(frame.Header{Kind: frameData, From: 2, To: 1}, key, 1, 2), 1000), "it comes by rails")
}

// Parts of a message that has begun to come by the stream cut their sender off, whether its data have come or are on the way.
func TestPartsOfWhatComesByTheStream(t *testing.T) {
	from := frame.Header{From: 2, To: 1}
	for name, come := range map[string]int{"none": 0, "some": 100, "a frame": 1000} {
		t.Run(name, func(t *testing.T) {
			_, l, _, key, rails := aloneByRails(t, 2*partSize)
			head := carriertest.Forged(frame.Header{Kind: frameData, From: 2, To: 1, Length: frame.WordSize + 1000}, key)
			require.True(t, l.feed(append(head, make([]byte, come)...), 5000))
			for i := range rails {
				l.bring(i, rails[i], part(from, key, uint64(i), make([]byte, partSize)))
			}
			require.Equal(t, int32(broken), l.fate.Load())
		})
	}
}

// Contract: whatever comes by rails, in whatever turns, is taken or cuts the peer off.
func FuzzParts(f *testing.F) {
	_, _, _, key, _ := aloneByRails(f, fromParts)
	h := frame.Header{From: 2, To: 1}
	f.Add(append(part(h, key, 0, nil)[:partHeader], 1, 2, 3), uint16(7))
	f.Add(part(h, key+1<<32, 1, make([]byte, 100)), uint16(1000))
	f.Add(append(part(h, key, 1, make([]byte, 1000)), part(h, key, 0, make([]byte, 1000))...), uint16(500))
	f.Fuzz(func(t *testing.T, b []byte, piece uint16) {
		_, l, dst, key, rails := aloneByRails(t, fromParts+1000)
		for turn := 0; len(b) > 0 && l.fate.Load() == fine; turn++ {
			n := min(len(b), max(int(piece), 1))
			l.bring(turn%2, rails[turn%2], b[:n])
			b = b[n:]
		}
		if r := l.in.receives.Find(key); r != nil {
			require.LessOrEqual(t, r.got, len(dst))
		}
	})
}
