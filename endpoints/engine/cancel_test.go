// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestCancel(t *testing.T) {
	each(t, Options{Ports: 2}, func(t *testing.T, f *Fabric) {
		a, b := f.Port(0), f.Port(1)
		r, err := b.Irecv(make([]byte, 8), Envelope{})
		require.NoError(t, err)
		require.NoError(t, r.Cancel())
		_, err = r.Wait()
		assert.ErrorIs(t, err, ErrCancelled)

		done, err := b.Irecv(nil, Envelope{})
		require.NoError(t, err)
		require.NoError(t, a.Send(nil, Envelope{Peer: 1}))
		poll(b)
		require.NoError(t, done.Cancel())
		_, err = done.Wait()
		assert.NoError(t, err, "the message was there first")

		data := pattern(100000, 1)
		for _, seen := range []bool{false, true} { // in the ring, or unexpected
			s, err := a.Isend(data, Envelope{Peer: 1})
			require.NoError(t, err)
			if seen {
				poll(b)
			}
			require.NoError(t, s.Cancel())
			_, err = s.Wait()
			assert.ErrorIs(t, err, ErrCancelled)
		}
		require.NoError(t, a.Send([]byte("x"), Envelope{Peer: 1}))
		buf := make([]byte, 8)
		status, err := b.Recv(buf, Envelope{})
		require.NoError(t, err)
		assert.Equal(t, "x", string(buf[:status.Bytes]), "not one that was cancelled")
	})
}

// Sends that wait for room in the destination's inbox are cancelled at both ends of
// their lane; the rest comes in order.
func TestCancelInALane(t *testing.T) {
	each(t, Options{Ports: 2, Ring: 2}, func(t *testing.T, f *Fabric) {
		if f.options.Model == Offload {
			return // the port's own thread empties the inbox when it will: see TestThreadsCancelAndProbe
		}
		a, b := f.Port(0), f.Port(1)
		send := func(i byte) Request {
			r, err := a.Isend([]byte{i}, Envelope{Peer: 1})
			require.NoError(t, err)
			return r
		}
		var requests []Request
		for i := range byte(6) {
			requests = append(requests, send(i))
		}
		for _, i := range []int{2, 4, 5, 3} { // 0 and 1 are in the ring
			require.NoError(t, requests[i].Cancel())
			_, err := requests[i].Wait()
			require.ErrorIs(t, err, ErrCancelled)
		}
		send(6)
		send(7)
		for _, want := range []byte{0, 1, 6, 7} {
			var buf [1]byte
			r, err := b.Irecv(buf[:], Envelope{})
			require.NoError(t, err)
			for done := false; !done; {
				poll(a)
				_, done, err = r.Test()
				require.NoError(t, err)
			}
			assert.Equal(t, want, buf[0])
		}
	})
}

// A cancel that waits for the port while another thread's wait ends the operation leaves
// the next one alone, which has its op.
func TestCancelTooLate(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Model: LockQ})
	p := f.Port(0)
	send, err := p.Isend(make([]byte, 100000), Envelope{Peer: 1})
	require.NoError(t, err)
	owner := p.enter()
	free := p.ops.head.Load()
	cancelled := make(chan error)
	go func() { cancelled <- send.Cancel() }()
	until(t, "cancel under way", func() bool { return p.ops.head.Load() != free })
	_, err = f.Port(1).Recv(make([]byte, 100000), Envelope{})
	require.NoError(t, err)
	_, err = send.Wait()
	require.NoError(t, err)
	next, err := p.Irecv(nil, Envelope{Tag: 1})
	require.NoError(t, err)
	require.Same(t, send.op, next.op)
	p.leave(owner)
	assert.NoError(t, <-cancelled)
	_, done, err := next.Test()
	assert.False(t, done)
	assert.NoError(t, err)
}

// The sender of a unique envelope, which has copied its half, cannot cancel while the
// receiver copies the other.
func TestCancelWhileTheOtherCopies(t *testing.T) {
	f := fabric(t, Options{Ports: 2, Unique: true})
	data, buf := pattern(several, 1), make([]byte, several)
	s, err := f.Port(0).Isend(data, Envelope{Peer: 1})
	require.NoError(t, err)
	r, err := f.Port(1).Irecv(buf, Envelope{})
	require.NoError(t, err)
	p := f.Port(0)
	require.True(t, r.op.take(r.turn)) // what Port(0) does as it finds the ready cell
	require.True(t, p.sends.Cancel(s.op.index))
	p.agree(s.op, r.op)
	require.NoError(t, s.Cancel())
	assert.False(t, s.done(), "its message is on the way")
	r.op.copyFrom(0)
	_, err = s.Wait()
	require.NoError(t, err)
	_, err = r.Wait()
	require.NoError(t, err)
	assert.Equal(t, data, buf)
}

// Sends that are cancelled at any moment, also as the receiver matches or copies, end
// on both sides in the same way: with the message, whole, or without it.
func TestCancelAtAnyMoment(t *testing.T) {
	rounds := testsupport.Times(8, 25)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, unique := range []bool{false, true} {
		each(t, Options{Ports: 2, Unique: unique, Halves: 1, Ring: 8, Packets: 2, Eager: 1000}, func(t *testing.T, f *Fabric) {
			threads := 3
			if f.options.Model == Private {
				threads = 1
			}
			var all sync.WaitGroup
			for tag := range int32(threads) {
				random := rand.New(rand.NewPCG(seed, uint64(tag)))
				sizes, sent := make(chan int), make(chan error)
				all.Go(func() {
					defer close(sizes)
					for round := range rounds {
						size := []int{8, 900, 20_000, 2*chunk + 5}[random.IntN(4)]
						sizes <- size
						sent <- sendAndCancel(f.Port(0), pattern(size, byte(round)), Envelope{Peer: 1, Tag: tag}, random.IntN(200))
					}
				})
				all.Go(func() {
					round := 0
					for size := range sizes {
						receiveIfSent(t, f.Port(1), pattern(size, byte(round)), Envelope{Tag: tag}, sent)
						round++
					}
				})
			}
			all.Wait()
		})
	}
}

// sendAndCancel cancels after so many polls, or, from 100 on, not at all.
func sendAndCancel(p *Port, data []byte, e Envelope, polls int) error {
	r, err := p.Isend(data, e)
	if err != nil {
		return err
	}
	if polls < 100 {
		for range polls {
			poll(p)
		}
		if err := r.Cancel(); err != nil {
			return err
		}
	}
	_, err = r.Wait()
	return err
}

// receiveIfSent makes progress until the sender says how its send has ended.
func receiveIfSent(t *testing.T, p *Port, want []byte, e Envelope, sent <-chan error) {
	buf := make([]byte, len(want))
	r, err := p.Irecv(buf, e)
	assert.NoError(t, err)
	for {
		select {
		case err := <-sent:
			if err != nil {
				assert.ErrorIs(t, err, ErrCancelled)
				assert.NoError(t, r.Cancel())
			}
			_, got := r.Wait()
			assert.Equal(t, err, got)
			assert.True(t, err != nil || bytes.Equal(want, buf))
			return
		default:
			poll(p)
			r.op.help()
			runtime.Gosched()
		}
	}
}
