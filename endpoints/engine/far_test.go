// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/shm"
	"github.com/tpsl/tpsl/endpoints/engine/tcp"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// A way is what carries messages between the parts of a fabric.
type way string

const (
	byMemory  way = "memory"
	byStreams way = "streams" // memory, large messages in parts
	byTCP     way = "tcp"
	byBoth    way = "both" // as on two hosts: every other part is on the second one
)

var ways = []way{byMemory, byStreams, byTCP, byBoth}

// carriersBy make the carriers of all processes, by ways that are there in some builds only.
var carriersBy = map[way]func(t testing.TB, peers []tcp.Peer) []carrier.Carrier{}

// spanning makes the parts of a fabric that has so many ports in each of its
// processes, all in this process: what they share is what processes share.
func spanning(t testing.TB, o Options, by way, ports ...int) []*Fabric {
	t.Helper()
	return spanningAs(t, func(int) Options { return o }, by, ports...)
}

// spanningAs is spanning where each part has options of its own.
func spanningAs(t testing.TB, options func(part int) Options, by way, ports ...int) []*Fabric {
	t.Helper()
	peers := make([]tcp.Peer, len(ports))
	size := 0
	for i, n := range ports {
		peers[i] = tcp.Peer{First: size, Ports: n}
		size += n
	}
	carriers := make([]carrier.Carrier, len(ports))
	switch by {
	case byMemory, byStreams:
		for i, n := range onMemory(t, peers, size, by == byStreams) {
			carriers[i] = n
		}
	case byTCP:
		for i, n := range overTCP(t, peers, func(int) tcp.Options { return tcp.Options{} }) {
			carriers[i] = n
		}
	case byBoth:
		near := make([]*shm.Node, len(ports))
		for host := range 2 {
			var here []tcp.Peer
			for i := host; i < len(peers); i += 2 {
				here = append(here, peers[i])
			}
			for k, n := range onMemory(t, here, size, false) {
				near[2*k+host] = n
			}
		}
		far := overTCP(t, peers, func(i int) tcp.Options {
			own := append([]tcp.Peer(nil), peers...)
			for k := i % 2; k < len(own); k += 2 {
				own[k].Address = ""
			}
			o := tcp.Options{Peers: own}
			for rank := own[i].First; rank < own[i].First+own[i].Ports; rank++ {
				o.Bells = append(o.Bells, near[i].Port(rank).Bell())
			}
			return o
		})
		for i := range carriers {
			var err error
			carriers[i], err = carrier.Both(near[i], far[i])
			require.NoError(t, err)
		}
	default:
		carriers = carriersBy[by](t, peers)
	}
	var parts []*Fabric
	var closing sync.WaitGroup // all at once: each waits for the others
	t.Cleanup(closing.Wait)
	for i, c := range carriers {
		o := options(i)
		o.Carrier = c
		f := fabric(t, o)
		t.Cleanup(func() { f.Close(); closing.Go(func() { c.Close() }) })
		parts = append(parts, f)
	}
	return parts
}

// onMemory has processes share memory.
func onMemory(t testing.TB, peers []tcp.Peer, size int, streams bool) []*shm.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	nodes, ends := make([]*shm.Node, len(peers)), make(chan error)
	var forMeet []*os.File
	for i, p := range peers {
		m, j, err := shm.Socketpair()
		require.NoError(t, err)
		defer m.Close()
		defer j.Close()
		forMeet = append(forMeet, m)
		go func() {
			var err error
			nodes[i], err = shm.Join(ctx, j, shm.Options{First: p.First, Ports: p.Ports, Total: size, Streams: streams})
			ends <- err
		}()
	}
	require.NoError(t, shm.Meet(ctx, forMeet))
	for range peers {
		require.NoError(t, <-ends)
	}
	return nodes
}

// overTCP has processes listen on the loopback, notes where, and has them join.
func overTCP(t testing.TB, peers []tcp.Peer, options func(i int) tcp.Options) []*tcp.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	nodes, ends := make([]*tcp.Node, len(peers)), make(chan error)
	var listeners []*net.TCPListener
	for i := range peers {
		l, err := tcp.Listen("127.0.0.1:0")
		require.NoError(t, err)
		listeners, peers[i].Address = append(listeners, l), l.Addr().String()
	}
	for i := range peers {
		o := options(i)
		o.Process, o.Secret = i, tcp.Secret{7}
		if o.Peers == nil {
			o.Peers = peers
		}
		go func() {
			var err error
			nodes[i], err = tcp.Join(ctx, listeners[i], o)
			ends <- err
		}()
	}
	for range peers {
		require.NoError(t, <-ends)
	}
	return nodes
}

// eachFar runs a test over two parts of a fabric, with every model and matcher, and
// all ways.
func eachFar(t *testing.T, run func(t *testing.T, a, b *Port)) {
	testsupport.NothingLeft(t)
	for _, model := range Models() {
		for _, matcher := range []match.Kind{match.HashTable, match.TwoQueues} {
			for _, by := range ways {
				t.Run(model.String()+"/"+matcher.String()+"/"+string(by), func(t *testing.T) {
					f := spanning(t, Options{Model: model, Matcher: matcher}, by, 1, 1)
					run(t, f[0].Port(0), f[1].Port(1))
				})
			}
		}
	}
}

// Each size, posted first and unexpected, with wildcards too.
func TestFarSizes(t *testing.T) {
	eachFar(t, func(t *testing.T, a, b *Port) {
		for i, size := range sizes {
			for _, expected := range []bool{true, false} {
				e := Envelope{Context: 3, Peer: 0, Tag: 5}
				if i%2 == 1 {
					e.Peer, e.Tag = AnySource, AnyTag
				}
				data, buf := pattern(size, byte(i)), make([]byte, size+1)
				sent := make(chan error, 1)
				send := func() {
					r, _ := a.Isend(data, Envelope{Context: 3, Peer: 1, Tag: 5})
					_ = a.Send(nil, Envelope{Peer: 1, Tag: 6})
					_, err := r.Wait()
					sent <- err
				}
				var r Request
				var err error
				if expected {
					r, err = b.Irecv(buf, e)
					require.NoError(t, err)
					go send()
					_, err = b.Recv(nil, Envelope{Peer: 0, Tag: 6})
					require.NoError(t, err)
				} else {
					go send()
					s, err := b.Probe(Envelope{Context: 3, Peer: AnySource, Tag: AnyTag})
					require.NoError(t, err)
					require.Equal(t, Status{Envelope{Context: 3, Tag: 5}, size}, s)
					_, err = b.Recv(nil, Envelope{Peer: 0, Tag: 6}) // comes after it
					require.NoError(t, err)
					r, err = b.Irecv(buf, e)
					require.NoError(t, err)
				}
				s, err := r.Wait()
				require.NoError(t, err)
				require.Equal(t, Status{Envelope{Context: 3, Tag: 5}, size}, s)
				require.Equal(t, data, buf[:size])
				require.NoError(t, <-sent)
			}
		}
	})
}

// Nothing is allocated per message, whatever its way. The models do not differ there.
func TestFarAllocatesNothing(t *testing.T) {
	for _, by := range ways {
		f := spanning(t, Options{}, by, 1, 1)
		a, b := f[0].Port(0), f[1].Port(1)
		for _, size := range []int{8, 5000, 100_000} {
			data, buf := pattern(size, 1), make([]byte, size)
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				r, _ := b.Irecv(buf, Envelope{Peer: 0})
				s, _ := a.Isend(data, Envelope{Peer: 1})
				for sent, received := false, false; !sent || !received; {
					if !sent {
						_, sent, _ = s.Test()
					}
					if !received {
						_, received, _ = r.Test()
					}
				}
			}), "%d bytes, %s", size, by)
			assert.Equal(t, data, buf)
		}
	}
}

func TestFarTruncation(t *testing.T) {
	eachFar(t, func(t *testing.T, a, b *Port) {
		for _, size := range []int{8, 5000, 1 << 20} {
			sent := make(chan error, 1)
			go func() { sent <- a.Send(pattern(size, 1), Envelope{Peer: 1}) }()
			buf := make([]byte, size)
			s, err := b.Recv(buf[:size/2], Envelope{})
			assert.ErrorIs(t, err, ErrTruncated)
			assert.Equal(t, size/2, s.Bytes)
			assert.Equal(t, append(pattern(size, 1)[:size/2], make([]byte, size-size/2)...), buf)
			assert.NoError(t, <-sent)
		}
	})
}

// Messages of one envelope do not overtake one another, whatever their ways, also
// where the receiver is far behind.
func TestFarOrder(t *testing.T) {
	eachFar(t, func(t *testing.T, a, b *Port) {
		const count = 300
		lengths := []int{4, 100, 4, 20_000, 50, 7000}
		sent := make(chan error, 1)
		go func() {
			var requests []Request
			for i := range count {
				r, err := a.Isend(pattern(lengths[i%len(lengths)], byte(i)), Envelope{Peer: 1})
				if err != nil {
					sent <- err
				}
				requests = append(requests, r)
			}
			sent <- WaitAll(requests, nil)
		}()
		buf := make([]byte, 20_000)
		for i := range count {
			s, err := b.Recv(buf, Envelope{Tag: AnyTag})
			require.NoError(t, err)
			require.Equal(t, pattern(lengths[i%len(lengths)], byte(i)), buf[:s.Bytes], "message %d", i)
		}
		require.NoError(t, <-sent)
	})
}

// A fabric's ports of one process and of others are one set of ranks; threads sleep in
// the kernel while they wait for either.
func TestNearAndFar(t *testing.T) {
	testsupport.NothingLeft(t)
	for _, by := range ways {
		t.Run(string(by), func(t *testing.T) { nearAndFar(t, spanning(t, Options{}, by, 2, 1, 2)) })
	}
}

func nearAndFar(t *testing.T, f []*Fabric) {
	assert.Equal(t, 5, f[0].Size())
	assert.Nil(t, f[0].Port(2))
	ranks := []*Port{f[0].Port(0), f[0].Port(1), f[1].Port(2), f[2].Port(3), f[2].Port(4)}
	ends := make(chan error)
	for rank, p := range ranks {
		assert.Equal(t, rank, p.Rank())
		go func() { ends <- passAround(p, len(ranks)) }()
	}
	for range ranks {
		require.NoError(t, <-ends)
	}
}

// passAround sends a token of growing size around all ranks, some 50 times. One rank
// pauses, so that the others do fall asleep.
func passAround(p *Port, size int) error {
	next, before := Envelope{Peer: int32((p.Rank() + 1) % size)}, Envelope{Peer: int32((p.Rank() + size - 1) % size)}
	buf := make([]byte, 600_000)
	for i := range 50 {
		if p.Rank() != 0 {
			if _, err := p.Recv(buf, before); err != nil {
				return err
			}
		} else if i%10 == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		if err := p.Send(buf[:i*12_000], next); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if _, err := p.Recv(buf, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// A tag that no port sends, from a peer that is broken, is no message.
func TestFarTagIsNoWildcard(t *testing.T) {
	eachFar(t, func(t *testing.T, a, b *Port) {
		_, err := a.far.port.Send(1, 0, AnyTag, nil, 0)
		require.NoError(t, err)
		require.NoError(t, a.Send(nil, Envelope{Peer: 1, Tag: 3}))
		s, err := b.Recv(nil, Envelope{Peer: AnySource, Tag: AnyTag})
		require.NoError(t, err)
		assert.EqualValues(t, 3, s.Tag)
	})
}

// Every rank of another process must be reached.
func TestFarUnreached(t *testing.T) {
	m, j, err := shm.Socketpair()
	require.NoError(t, err)
	defer m.Close()
	defer j.Close()
	met := make(chan error, 1)
	go func() { met <- shm.Meet(context.Background(), []*os.File{m}) }()
	n, err := shm.Join(context.Background(), j, shm.Options{First: 1, Ports: 1, Total: 3})
	require.NoError(t, err)
	defer n.Close()
	require.NoError(t, <-met)
	_, err = New(Options{Carrier: n})
	assert.EqualError(t, err, "fabric of ranks 0 to 2: its carrier does not reach rank 0")
}
