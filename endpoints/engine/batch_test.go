// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
	"github.com/tpsl/tpsl/internal/testsupport"
)

// numbers makes buffers with the numbers from first on.
func numbers(first, count int) (bufs [][]byte) {
	for i := range count {
		bufs = append(bufs, number(first+i))
	}
	return bufs
}

// Messages of a batch come in order, posted first and unexpected, before and after others of the same envelope, in
// every model and over every carrier.
func TestBatches(t *testing.T) {
	const count = 150
	eachFar(t, func(t *testing.T, a, b *Port) {
		from, to := Envelope{Peer: 0, Tag: 5}, Envelope{Peer: 1, Tag: 5}
		received := make([]Request, 2*count+1)
		in := numbers(0, 2*count+1)
		for _, buf := range in {
			clear(buf)
		}
		require.NoError(t, b.IrecvAll(in[:count], from, received))
		ended := make(chan bool)
		go func() {
			defer close(ended)
			sent := make([]Request, 2*count+1)
			assert.NoError(t, a.IsendAll(numbers(0, count), to, sent))
			var err error
			sent[count], err = a.Isend(number(count), to)
			assert.NoError(t, err)
			assert.NoError(t, a.IsendAll(numbers(count+1, count), to, sent[count+1:]))
			assert.NoError(t, WaitAll(sent, nil))
		}()
		require.NoError(t, WaitAll(received[:count], nil))
		_, err := b.Probe(from)
		require.NoError(t, err)
		require.NoError(t, b.IrecvAll(in[count:], from, received[count:]))
		statuses := make([]Status, count+1)
		require.NoError(t, WaitAll(received[count:], statuses))
		for i, buf := range in {
			require.EqualValues(t, i, binary.LittleEndian.Uint64(buf))
		}
		for _, s := range statuses {
			require.Equal(t, Status{from, 8}, s)
		}
		<-ended
	})
}

// A port of another process, which threads share in any model, receives batches one by one, in batches, and with wildcards. The
// messages of each tag come in order.
func TestBatchesToThreads(t *testing.T) {
	testsupport.NothingLeft(t)
	const threads, rounds, count = 4, 20, 11
	for i := range len(shared()) * len(ways) {
		model, by := shared()[i/len(ways)], ways[i%len(ways)]
		t.Run(model.String()+"/"+string(by), func(t *testing.T) {
			f := spanningAs(t, func(part int) Options { return Options{Model: []Model{Private, model}[part]} }, by, 1, 1)
			var all sync.WaitGroup
			all.Go(func() {
				for round := range rounds {
					for tag := range int32(threads) {
						sent := make([]Request, count)
						assert.NoError(t, f[0].Port(0).IsendAll(numbers(round*count, count), Envelope{Peer: 1, Tag: tag}, sent))
						assert.NoError(t, WaitAll(sent, nil))
					}
				}
			})
			for tag := range int32(threads) {
				all.Go(func() {
					e := Envelope{Peer: []int32{0, AnySource}[tag%2], Tag: tag}
					for next := 0; next < rounds*count; {
						some := min(1+next%7, rounds*count-next)
						bufs, received := numbers(0, some), make([]Request, some)
						assert.NoError(t, f[1].Port(1).IrecvAll(bufs, e, received))
						assert.NoError(t, WaitAll(received, nil))
						for _, buf := range bufs {
							assert.EqualValues(t, next, binary.LittleEndian.Uint64(buf))
							next++
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// Threads of workers start batches, and are signalled for each of its operations.
func TestThreadsOfWorkersStartBatches(t *testing.T) {
	const pairs, rounds, count = 50, 10, 20
	f, workers := attached(t, 2, pairs)
	for pair := range int32(pairs) {
		create(t, workers[0], func(*fult.Thread) {
			for round := range rounds {
				sent := make([]Request, count)
				assert.NoError(t, f.Port(0).IsendAll(numbers(round*count, count), Envelope{Peer: 1, Tag: pair}, sent))
				assert.NoError(t, WaitAll(sent, nil))
			}
		})
		create(t, workers[1], func(*fult.Thread) {
			for round := range rounds {
				bufs, received := numbers(0, count), make([]Request, count)
				assert.NoError(t, f.Port(1).IrecvAll(bufs, Envelope{Tag: pair}, received))
				assert.NoError(t, WaitAll(received, nil))
				assert.Equal(t, numbers(round*count, count), bufs)
			}
		})
	}
	runAll(t, workers)
}

// Batches end with their peer, and with the fabric.
func TestBatchesEnd(t *testing.T) {
	testsupport.NothingLeft(t)
	f := spanning(t, Options{}, byMemory, 1, 1)
	p, requests := f[0].Port(0), make([]Request, 6)
	require.NoError(t, p.IrecvAll(numbers(0, 3), Envelope{Peer: 1}, requests))
	require.NoError(t, f[1].Close())
	require.NoError(t, f[1].options.Carrier.Close())
	for _, r := range requests[:3] {
		_, err := r.Wait()
		require.ErrorIs(t, err, ErrPeerGone)
	}
	require.NoError(t, p.IsendAll(numbers(0, 3), Envelope{Peer: 1}, requests))
	require.NoError(t, p.IrecvAll(numbers(0, 3), Envelope{Peer: 1}, requests[3:]))
	for _, r := range requests {
		_, err := r.Wait()
		require.ErrorIs(t, err, ErrPeerGone)
	}
	require.NoError(t, p.IrecvAll(numbers(0, 3), Envelope{Peer: 0}, requests))
	require.NoError(t, f[0].Close())
	for _, r := range requests[:3] {
		_, err := r.Wait()
		require.ErrorIs(t, err, ErrClosed)
	}
	require.ErrorIs(t, p.IsendAll(numbers(0, 3), Envelope{Peer: 0}, requests), ErrClosed)
	require.ErrorIs(t, p.IrecvAll(numbers(0, 3), Envelope{Peer: 0}, requests), ErrClosed)
}

// A run of short messages takes one cell, whoever waits for them, and its messages are matched one by one: by receives of
// their envelope, by one with wildcards, and some by none.
func TestRun(t *testing.T) {
	f := fabric(t, Options{Ports: 2})
	a, b := f.Port(0), f.Port(1)
	received := make([]Request, 4)
	bufs := [][]byte{make([]byte, 8), make([]byte, 3), make([]byte, 8), make([]byte, 8)}
	require.NoError(t, b.IrecvAll(bufs[:2], Envelope{Tag: 1}, received))
	var err error
	received[2], err = b.Irecv(bufs[2], Envelope{Peer: AnySource, Tag: AnyTag})
	require.NoError(t, err)
	sent, statuses := make([]Request, 6), make([]Status, 6)
	require.NoError(t, a.IsendAll(numbers(1, 6), Envelope{Peer: 1, Tag: 1}, sent))
	require.NotNil(t, b.inbox.Front())
	assert.EqualValues(t, tagRun, b.inbox.Front().Tag)
	require.NoError(t, WaitAll(sent, statuses))
	assert.Equal(t, Status{Envelope{Peer: 1, Tag: 1}, 8}, statuses[5])

	require.True(t, b.Progress())
	assert.Nil(t, b.inbox.Front(), "one cell")
	_, err = received[0].Wait()
	require.NoError(t, err)
	s, err := received[1].Wait()
	require.ErrorIs(t, err, ErrTruncated)
	assert.Equal(t, Status{Envelope{Tag: 1}, 3}, s)
	_, err = received[2].Wait()
	require.NoError(t, err)
	assert.Equal(t, numbers(1, 3)[0], bufs[0])
	assert.Equal(t, number(2)[:3], bufs[1])
	assert.Equal(t, number(3), bufs[2])
	for i := range 3 {
		expect(t, b, Envelope{Tag: 1}, 4+i)
	}
	assertPacketsFree(t, f)
}

// A few short messages, and more of them where no packet is free, make a run in a cell.
func TestRunInACell(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Packets: 2})
	for range 2 {
		require.NotZero(t, f.packets.GetShared())
	}
	const inCell = (ring.Inline - runHead) / 8
	sent := make([]Request, inCell+2)
	require.NoError(t, f.Port(0).IsendAll(numbers(0, len(sent)), Envelope{Peer: 1}, sent))
	for _, count := range []uint32{inCell, 2} {
		c := f.Port(1).inbox.Front()
		require.NotNil(t, c)
		assert.EqualValues(t, tagRun, c.Tag)
		assert.Equal(t, runHead+8*count, c.Length)
		f.Port(1).arrive(c)
		f.Port(1).inbox.Pop()
	}
	for i := range sent {
		expect(t, f.Port(1), Envelope{}, i)
	}
	require.NoError(t, WaitAll(sent, nil))
}

// A carrier hears that a run is taken when its last message is, for the messages that nobody has asked for are to keep the
// room that their sender has. What is no run is dropped.
func TestRunOfAnotherProcess(t *testing.T) {
	for _, model := range Models() {
		t.Run(model.String(), func(t *testing.T) {
			s := &scripted{kept: map[uint64][]byte{}}
			f, err := New(Options{Carrier: s, Model: model})
			require.NoError(t, err)
			p := f.Port(0)
			arrive := func(from int32, run []byte) {
				e := p.enter() // model Offload polls meanwhile
				s.arrive(from, 3, tagRun, run)
				p.leave(e)
				until(t, "poll", func() bool {
					p.Progress()
					e := p.enter()
					defer p.leave(e)
					return len(s.events) == 0
				})
			}
			run := make([]byte, ring.Inline)
			arrive(1, run[:fillRun(run, numbers(0, 3), 5)])
			for i := range 3 {
				assert.Empty(t, s.taken)
				expect(t, p, Envelope{Context: 3, Peer: 1, Tag: 5}, i)
			}
			assert.Equal(t, []int{runHead + 3*8}, s.taken)

			received := make([]Request, 4)
			require.NoError(t, p.IrecvAll(numbers(0, 4), Envelope{Context: 3, Peer: 1, Tag: 5}, received))
			arrive(1, run[:fillRun(run, numbers(0, longestFar), 5)])
			require.NoError(t, WaitAll(received, nil))
			assert.Equal(t, []int{runHead + 3*8, runHead + 4*8}, s.taken)

			s.taken = nil
			wrong := map[string][]byte{
				"empty": nil, "only a head": run[:runHead], "part of a message": run[:runHead+7], "too long": bytes.Repeat([]byte{1}, 41),
				"too many": append(append([]byte{1, 0, 0, 0, 1, 0, 0, 0}, run[:longestFar]...), 1), "no length": make([]byte, 20), "no tag": append([]byte{255, 255, 255, 255, 1, 0, 0, 0}, 1),
			}
			for what, run := range wrong {
				arrive(2, run)
				_, found, err := p.Iprobe(Envelope{Context: 3, Peer: 2, Tag: AnyTag})
				require.NoError(t, err)
				assert.False(t, found, what)
			}
			assert.Len(t, s.taken, len(wrong))
			require.NoError(t, f.Close())
		})
	}
}

// What makes no run goes as ever: a single message, long ones, empty ones, and ones of two to a cell where no packet is free.
func TestNoRun(t *testing.T) {
	for name, bufs := range map[string][][]byte{
		"single": numbers(0, 1), "single of 33 bytes": {pattern(33, 0)}, "single of 40 bytes": {pattern(40, 0)}, "long": {pattern(41, 0), pattern(41, 1), pattern(41, 2), pattern(41, 3)}, "empty": make([][]byte, 5),
	} {
		t.Run(name, func(t *testing.T) { sendNoRun(t, fabric(t, Options{Ports: 2}), bufs) })
	}
	t.Run("no packet", func(t *testing.T) {
		f := fabric(t, Options{Ports: 2, Packets: 2})
		for range 2 {
			require.NotZero(t, f.packets.GetShared())
		}
		sendNoRun(t, f, [][]byte{pattern(20, 0), pattern(20, 1), pattern(20, 2)})
	})
}

func sendNoRun(t *testing.T, f *Fabric, bufs [][]byte) {
	sent := make([]Request, len(bufs))
	require.NoError(t, f.Port(0).IsendAll(bufs, Envelope{Peer: 1}, sent))
	for _, want := range bufs {
		require.NotEqualValues(t, tagRun, f.Port(1).inbox.Front().Tag)
		buf := make([]byte, 50)
		s, err := f.Port(1).Recv(buf, Envelope{})
		require.NoError(t, err)
		assert.Equal(t, string(want), string(buf[:s.Bytes]))
	}
	require.NoError(t, WaitAll(sent, nil))
}

// assertPacketsFree sees that no packet is lost.
func assertPacketsFree(t *testing.T, f *Fabric) {
	n := 0
	for f.packets.GetShared() != 0 {
		n++
	}
	assert.Equal(t, f.options.Packets, n, "packets")
}

// Without room for the requests nothing starts.
func TestBatchRefused(t *testing.T) {
	p := fabric(t, Options{Ports: 1}).Port(0)
	require.EqualError(t, p.IsendAll(numbers(0, 3), Envelope{}, make([]Request, 2)), "port 0: room for 2 requests of 3 messages")
	require.Error(t, p.IrecvAll(numbers(0, 3), Envelope{}, nil))
	require.Error(t, p.IsendAll(numbers(0, 3), Envelope{Peer: 1}, make([]Request, 3)))
	require.NoError(t, p.IsendAll(nil, Envelope{}, nil))
	require.NoError(t, p.IrecvAll(nil, Envelope{}, nil))
	_, found, err := p.Iprobe(Envelope{})
	require.NoError(t, err)
	assert.False(t, found)
}
