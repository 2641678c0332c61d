// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// several is more than one chunk.
const several = 3*chunk + 5

// The thread that waits for a large send copies what the receiver has not claimed, and
// the operations are done when the receiver has added its chunk, not before.
func TestBothHalves(t *testing.T) {
	f := fabric(t, Options{Ports: 2})
	data, buf := pattern(several, 1), make([]byte, several)
	r, err := f.Port(1).Irecv(buf, Envelope{})
	require.NoError(t, err)
	s, err := f.Port(0).Isend(data, Envelope{Peer: 1})
	require.NoError(t, err)
	require.True(t, s.op.take(s.turn))
	f.Port(1).agree(r.op, s.op)
	_, done, err := s.Test()
	require.NoError(t, err)
	assert.False(t, done, "the first chunk is the receiver's")
	assert.True(t, bytes.Equal(data[chunk:], buf[chunk:]), "the rest is copied")
	assert.Zero(t, buf[chunk-1])
	s.op.copyFrom(0)
	assert.True(t, s.done() && r.done())
	assert.True(t, bytes.Equal(data, buf))
}

// Large messages go to and fro between threads, whoever of them copies how much.
func TestLargeMessages(t *testing.T) {
	for _, o := range []Options{{}, {Halves: -1}, {Unique: true}} {
		o.Ports = 2
		f := fabric(t, o)
		var all sync.WaitGroup
		for rank := range 2 {
			all.Go(func() {
				p, e, buf := f.Port(rank), Envelope{Peer: int32(1 - rank)}, make([]byte, several)
				for round := range 5 {
					e.Tag = int32(round)
					data := pattern(several-round, byte(round+rank))
					r, err := p.Irecv(buf, e)
					assert.NoError(t, err)
					assert.NoError(t, p.Send(data, e))
					s, err := r.Wait()
					assert.NoError(t, err)
					assert.True(t, bytes.Equal(pattern(several-round, byte(round+1-rank)), buf[:s.Bytes]))
				}
			})
		}
		all.Wait()
	}
}

// Two threads send each other messages that both sides copy, in every model: posted before they come and after, by name and by
// wildcards, with room for more. None is lost, changed or overtaken, none costs an allocation, and both sides did copy.
func TestSoakOfBothHalves(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("both sides copy at once on two processors only")
	}
	least, copies := 100, uint64(20) // messages each way, and copies by both sides, for which more are sent
	if raceDetector {                // it looks at each byte
		least, copies = 20, 2
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	base := make([]byte, 2*several)
	random := rand.New(rand.NewPCG(seed, 9))
	for i := range base {
		base[i] = byte(random.Uint32())
	}
	for _, model := range Models() {
		t.Run(model.String(), func(t *testing.T) {
			f := fabric(t, Options{Ports: 2, Model: model, Halves: chunk + 1})
			halves := [2]*halver{{p: f.Port(0), base: base, seed: seed}, {p: f.Port(1), base: base, seed: seed}}
			exchange := func(messages int) {
				var all sync.WaitGroup
				for _, h := range halves {
					all.Go(func() { h.run(t, messages) })
				}
				all.Wait()
			}
			exchange(10) // what grows has grown
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sent, begin := 0, time.Now()
			for ; !t.Failed() && (sent < least || f.helped.Load() < copies && time.Since(begin) < time.Minute); sent += 10 {
				exchange(10)
			}
			runtime.ReadMemStats(&after)
			t.Logf("%d messages each way in %v, %d of all copied by both sides", sent, time.Since(begin).Round(time.Millisecond), f.helped.Load())
			assert.GreaterOrEqual(t, f.helped.Load(), copies)
			assert.Less(t, after.Mallocs-before.Mallocs, uint64(max(sent, 100)), "an exchange of 20 messages starts two goroutines")
		})
	}
}

// A halver is one side. Message n of a rank is a piece of base, by which each side knows what the other sends.
type halver struct {
	p    *Port
	base []byte
	seed uint64
	sent int
	in   [2][several + 100]byte
}

func (h *halver) message(from, n int) []byte {
	r := mix(h.seed, int32(from), uint64(n), 0)
	at := int(r % several)
	return h.base[at:][:chunk+1+int(r>>32%(several-chunk))]
}

// run sends and receives an even number of messages, two at a time.
func (h *halver) run(t *testing.T, messages int) {
	rank := int(h.p.rank)
	peer := 1 - rank
	for range messages / 2 {
		late := mix(h.seed, int32(rank), uint64(h.sent), 1)
		var got, sent [2]Request
		receive := func() {
			e := Envelope{Peer: int32(peer), Tag: 5}
			if late>>8&1 == 0 {
				e = Envelope{Peer: AnySource, Tag: AnyTag}
			}
			for i := range got {
				got[i], _ = h.p.Irecv(h.in[i][:], e)
			}
		}
		if late&1 == 0 {
			receive()
		}
		for i := range sent {
			sent[i], _ = h.p.Isend(h.message(rank, h.sent+i), Envelope{Peer: int32(peer), Tag: 5})
		}
		if late&1 == 1 {
			receive()
		}
		for i, r := range got {
			want := h.message(peer, h.sent+i)
			status, err := r.Wait()
			if err != nil || status.Bytes != len(want) || !bytes.Equal(want, h.in[i][:status.Bytes]) {
				assert.Fail(t, "a message is not right", "message %d to %d: %d bytes of %d: %v", h.sent+i, rank, status.Bytes, len(want), err)
			}
		}
		assert.NoError(t, WaitAll(sent[:], nil))
		h.sent += 2
	}
}
