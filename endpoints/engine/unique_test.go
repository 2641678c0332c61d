// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A large message takes one control cell: the sender's if it asks, the receiver's if
// envelopes are unique; whichever side comes first, and whoever copies.
func TestOneControlCell(t *testing.T) {
	for _, halves := range []int{-1, 1} {
		for _, unique := range []bool{false, true} {
			each(t, Options{Ports: 2, Unique: unique, Halves: halves}, func(t *testing.T, f *Fabric) {
				for _, sendFirst := range []bool{false, true} {
					one(t, f, sendFirst)
				}
				asks, readies := f.Port(0).Stats(), f.Port(1).Stats()
				if unique {
					assert.Equal(t, []Stats{{}, {Readies: 2}}, []Stats{asks, readies})
				} else {
					assert.Equal(t, []Stats{{Asks: 2}, {}}, []Stats{asks, readies})
				}
			})
		}
	}
}

// one passes one large message from port 0 to port 1.
func one(t *testing.T, f *Fabric, sendFirst bool) {
	const size = 300000
	data, buf := pattern(size, 3), make([]byte, size+10)
	var s, r Request
	post := []func(){
		func() { r, _ = f.Port(1).Irecv(buf, Envelope{Context: 1, Peer: 0, Tag: 2}) },
		func() { s, _ = f.Port(0).Isend(data, Envelope{Context: 1, Peer: 1, Tag: 2}) },
	}
	if sendFirst {
		post[0], post[1] = post[1], post[0]
	}
	for i := range post {
		post[i]()
		poll(f.Port(0))
		poll(f.Port(1))
	}
	poll(f.Port(0)) // what a ready receive has set off
	status, err := r.Wait()
	require.NoError(t, err)
	assert.Equal(t, Status{Envelope{Context: 1, Peer: 0, Tag: 2}, size}, status)
	assert.True(t, bytes.Equal(data, buf[:size]))
	_, err = s.Wait()
	require.NoError(t, err)
}

func TestUniqueRefusesWildcards(t *testing.T) {
	p := fabric(t, Options{Ports: 1, Unique: true}).Port(0)
	_, err := p.Irecv(nil, Envelope{Tag: AnyTag})
	assert.ErrorIs(t, err, errUnique)
	_, _, err = p.Iprobe(Envelope{})
	assert.ErrorIs(t, err, errUnique)
}

// A small message takes the receive that was announced; what the sender has of it does
// not match the next large one, and does not pile up.
func TestSmallMessageIntoReadyReceive(t *testing.T) {
	each(t, Options{Ports: 2, Unique: true}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		buf := make([]byte, 100000)
		for tag := range int32(1000) {
			r, err := b.Irecv(buf, Envelope{Tag: tag})
			require.NoError(t, err)
			require.NoError(t, a.Send([]byte{byte(tag)}, Envelope{Peer: 1, Tag: tag}))
			poll(a)
			s, err := r.Wait()
			require.NoError(t, err)
			require.Equal(t, 1, s.Bytes)
			require.Equal(t, byte(tag), buf[0])
		}
		owner := a.enter()
		assert.Less(t, a.readies.count, 2*firstSweep)
		a.leave(owner)
		one(t, f, true)
	})
}

// A receive that a large message has ended is in its port's matcher still. A small message
// that finds it there leaves it alone and is kept.
func TestSmallMessageAfterLarge(t *testing.T) {
	each(t, Options{Ports: 2, Unique: true}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		data, buf, small := pattern(100000, 1), make([]byte, 100000), make([]byte, 10)
		r, err := b.Irecv(buf, Envelope{})
		require.NoError(t, err)
		poll(b)
		large, err := a.Isend(data, Envelope{Peer: 1})
		require.NoError(t, err)
		poll(a)
		require.True(t, r.done(), "the sender copies")
		next, err := a.Isend([]byte("small"), Envelope{Peer: 1})
		require.NoError(t, err)
		poll(a)
		poll(b)
		s, done, err := r.Test()
		require.True(t, done)
		require.NoError(t, err)
		assert.Equal(t, len(data), s.Bytes)
		assert.True(t, bytes.Equal(data, buf))
		r, err = b.Irecv(small, Envelope{})
		require.NoError(t, err)
		poll(b)
		require.True(t, r.done(), "the small message was kept")
		s, err = r.Wait()
		require.NoError(t, err)
		assert.Equal(t, "small", string(small[:s.Bytes]))
		require.NoError(t, WaitAll([]Request{large, next}, nil))
	})
}

func TestCancelReadyReceive(t *testing.T) {
	each(t, Options{Ports: 2, Unique: true}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		r, err := b.Irecv(make([]byte, 300000), Envelope{Context: 1, Tag: 2})
		require.NoError(t, err)
		require.NoError(t, r.Cancel())
		_, err = r.Wait()
		assert.ErrorIs(t, err, ErrCancelled)
		s, err := a.Isend(make([]byte, 300000), Envelope{Context: 1, Peer: 1, Tag: 2})
		require.NoError(t, err)
		require.NoError(t, s.Cancel())
		_, err = s.Wait()
		assert.ErrorIs(t, err, ErrCancelled)
		one(t, f, false)
		one(t, f, true)
	})
}

// Threads exchange messages of all sizes, each side in an order of its own; small ones
// go into buffers that were announced.
func TestUniqueAmongThreads(t *testing.T) {
	const ports, rounds, at = 3, 40, 8
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := fabric(t, Options{Ports: ports, Unique: true, Ring: 8, Eager: 100, Packets: 3, Halves: 1000})
	var all sync.WaitGroup
	for rank := range ports {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(rank)))
			for round := range rounds {
				var requests []Request
				var buf [ports * at][]byte
				for _, i := range random.Perm(2 * ports * at) {
					peer, tag := i/2%ports, i/2/ports
					size := []int{0, 40, 41, 100, 101, 5000, 99, 200000}[(tag+round)%8]
					var r Request
					if i%2 == 0 {
						r, _ = f.Port(rank).Isend(pattern(size, byte(rank*at+tag+round)), Envelope{Context: uint32(round), Peer: int32(peer), Tag: int32(tag)})
					} else {
						buf[i/2] = make([]byte, max(size, 200*(tag%2)))
						r, _ = f.Port(rank).Irecv(buf[i/2], Envelope{Context: uint32(round), Peer: int32(peer), Tag: int32(tag)})
					}
					requests = append(requests, r)
				}
				assert.NoError(t, WaitAll(requests, nil))
				for i := range buf {
					peer, tag := i%ports, i/ports
					size := []int{0, 40, 41, 100, 101, 5000, 99, 200000}[(tag+round)%8]
					assert.True(t, bytes.Equal(pattern(size, byte(peer*at+tag+round)), buf[i][:size]), "round %d, from %d, tag %d", round, peer, tag)
				}
			}
		})
	}
	all.Wait()
}
