// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/packet"
)

// fabric makes a fabric that is closed with the test.
func fabric(t testing.TB, o Options) *Fabric {
	t.Helper()
	f, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// each runs a test with both matchers in every model.
func each(t *testing.T, o Options, run func(t *testing.T, f *Fabric)) {
	for _, model := range Models() {
		for _, matcher := range []match.Kind{match.HashTable, match.TwoQueues} {
			t.Run(fmt.Sprintf("model=%s/matcher=%s", model, matcher), func(t *testing.T) {
				o.Model, o.Matcher = model, matcher
				run(t, fabric(t, o))
			})
		}
	}
}

// pattern fills n bytes that tell one message from another.
func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range min(n, 256) {
		b[i] = byte(i)*7 + seed
	}
	for done := 256; done < n; done *= 2 { // it repeats; the race detector looks at each byte that is stored by itself
		copy(b[done:], b[:done])
	}
	return b
}

// sizes are around what decides how a message travels.
var sizes = []int{0, 1, 8, 40, 41, 4096, 8192, 8193, 100000, 1 << 20}

func TestOptions(t *testing.T) {
	_, err := New(Options{})
	assert.ErrorContains(t, err, "take 1 to 2147483647")
	_, err = New(Options{Ports: 1 << 31})
	assert.ErrorContains(t, err, "take 1 to 2147483647")
	_, err = New(Options{Ports: 1, Model: 100})
	assert.ErrorContains(t, err, "no model 100")
	_, err = New(Options{Ports: 1, Matcher: 100})
	assert.ErrorContains(t, err, "no matcher 100")
	_, err = New(Options{Ports: 1, Eager: maxEager + 1})
	assert.ErrorContains(t, err, "at most")
	_, err = New(Options{Ports: 1, Packets: -1})
	assert.ErrorContains(t, err, "positive numbers")
	_, err = New(Options{Ports: 1, Ring: 3})
	assert.ErrorContains(t, err, "power of two")
}

func TestEnvelopesAreChecked(t *testing.T) {
	p := fabric(t, Options{Ports: 2}).Port(0)
	for _, e := range []Envelope{{Peer: 2}, {Peer: -1}, {Tag: -1}, {Peer: -2}, {Tag: -2}} {
		assert.ErrorContains(t, p.Send(nil, e), "ports 0 to 1", "%v", e)
	}
	for _, e := range []Envelope{{Peer: 2}, {Peer: -2}, {Tag: -2}} {
		_, err := p.Irecv(nil, e)
		assert.ErrorContains(t, err, "ports 0 to 1", "%v", e)
	}
}

// Each size, posted first and unexpected.
func TestSizes(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		for i, size := range sizes {
			for _, expected := range []bool{true, false} {
				data, buf := pattern(size, byte(i)), make([]byte, size+1)
				var r, s Request
				post := []func(){
					func() { r, _ = b.Irecv(buf, Envelope{Context: 3, Peer: 0, Tag: 5}) },
					func() { s, _ = a.Isend(data, Envelope{Context: 3, Peer: 1, Tag: 5}) },
				}
				if !expected {
					post[0], post[1] = post[1], post[0]
				}
				post[0]()
				poll(b)
				post[1]()
				status, err := r.Wait()
				require.NoError(t, err)
				assert.Equal(t, Status{Envelope{Context: 3, Peer: 0, Tag: 5}, size}, status)
				assert.True(t, bytes.Equal(data, buf[:size]), "%d bytes", size)
				status, err = s.Wait()
				require.NoError(t, err)
				assert.Equal(t, Status{Envelope{Context: 3, Peer: 1, Tag: 5}, size}, status)
			}
		}
	})
}

func TestTruncation(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		for _, size := range sizes[1:] {
			data, buf := pattern(size, 1), make([]byte, size-1)
			s, err := f.Port(0).Isend(data, Envelope{Peer: 1})
			require.NoError(t, err)
			status, err := f.Port(1).Recv(buf, Envelope{})
			assert.ErrorIs(t, err, ErrTruncated)
			assert.Equal(t, size-1, status.Bytes)
			assert.True(t, bytes.Equal(data[:size-1], buf))
			_, err = s.Wait()
			assert.NoError(t, err, "the sender is not concerned")
		}
	})
}

// However eager messages are received, their packets come back.
func TestPacketsComeBack(t *testing.T) {
	const packets = 4
	each(t, Options{Ports: 2, Eager: 1000, Packets: packets}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		for i := range 200 {
			size := 41 + i*4
			s, err := a.Isend(pattern(size, byte(i)), Envelope{Peer: 1})
			require.NoError(t, err)
			if i%2 == 0 {
				poll(b) // unexpected
			}
			status, err := b.Recv(make([]byte, size-i%3), Envelope{}) // or truncated
			assert.Equal(t, i%3 != 0, sameError(err, ErrTruncated))
			assert.Equal(t, size-i%3, status.Bytes)
			_, err = s.Wait()
			require.NoError(t, err)
		}
		taken := map[uint32]bool{}
		for i := f.packets.GetShared(); i != packet.None; i = f.packets.GetShared() {
			assert.False(t, taken[i])
			taken[i] = true
		}
		assert.Len(t, taken, packets)
	})
}

func TestStale(t *testing.T) {
	each(t, Options{Ports: 1}, func(t *testing.T, f *Fabric) {
		p := f.Port(0)
		s, err := p.Isend(nil, Envelope{})
		require.NoError(t, err)
		_, err = s.Wait()
		require.NoError(t, err)
		other, err := p.Irecv(nil, Envelope{Tag: 1})
		require.NoError(t, err)
		_, err = s.Wait()
		assert.ErrorIs(t, err, ErrStale)
		_, done, err := s.Test()
		assert.True(t, done)
		assert.ErrorIs(t, err, ErrStale)
		assert.ErrorIs(t, s.Cancel(), ErrStale)
		_, done, err = other.Test()
		assert.False(t, done, "a stale cancel does not hit another operation")
		assert.NoError(t, err)
	})
}

// All ports send more than the rings hold before anybody receives.
func TestAllSendAtOnce(t *testing.T) {
	const ports, count = 3, 200
	each(t, Options{Ports: ports, Ring: 4}, func(t *testing.T, f *Fabric) {
		var all sync.WaitGroup
		for rank := range ports {
			all.Go(func() {
				p := f.Port(rank)
				for i := range count {
					for peer := range ports {
						assert.NoError(t, p.Send([]byte{byte(i)}, Envelope{Peer: int32(peer)}))
					}
				}
				for i := range count {
					for peer := range ports {
						var buf [1]byte
						_, err := p.Recv(buf[:], Envelope{Peer: int32(peer)})
						assert.NoError(t, err)
						assert.Equal(t, byte(i), buf[0])
					}
				}
			})
		}
		all.Wait()
	})
}

func TestWaitAnyAndAll(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		var bufs [3][8]byte
		requests := make([]Request, 3)
		for i := range requests {
			requests[i], _ = b.Irecv(bufs[i][:], Envelope{Tag: int32(i)})
		}
		require.NoError(t, a.Send([]byte("one"), Envelope{Peer: 1, Tag: 1}))
		i, status, err := WaitAny(requests)
		require.NoError(t, err)
		assert.Equal(t, 1, i)
		assert.Equal(t, 3, status.Bytes)
		require.NoError(t, a.Send([]byte("two two two"), Envelope{Peer: 1, Tag: 2}))
		require.NoError(t, a.Send([]byte("zero"), Envelope{Peer: 1, Tag: 0}))
		statuses := make([]Status, 3)
		assert.ErrorIs(t, WaitAll(requests, statuses), ErrTruncated)
		assert.Equal(t, []int{4, 0, 8}, []int{statuses[0].Bytes, statuses[1].Bytes, statuses[2].Bytes})
		i, _, err = WaitAny(requests)
		require.NoError(t, err)
		assert.Equal(t, -1, i)
	})
}

func TestCloseEndsWaits(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		ends := make(chan error)
		go func() {
			_, err := f.Port(0).Recv(nil, Envelope{Peer: 1})
			ends <- err
		}()
		go func() { ends <- f.Port(1).Send(make([]byte, 100000), Envelope{Tag: 9}) }()
		require.NoError(t, f.Close())
		for range 2 {
			assert.ErrorIs(t, <-ends, ErrClosed)
		}
		assert.ErrorIs(t, f.Port(0).Send(nil, Envelope{}), ErrClosed)
	})
}

// poll makes progress on a port for no op.
func poll(p *Port) {
	e := p.enter()
	p.progress()
	p.leave(e)
}
