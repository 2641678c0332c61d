// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In model HMCS a message wakes the thread that waits for it and no other, and when the
// server goes, one thread more: the next server.
func TestHMCSWakesOne(t *testing.T) {
	const threads = 6
	t.Cleanup(func() { clientSleep = time.Millisecond })
	clientSleep = time.Hour // signals alone end waits
	f := fabric(t, Options{Ports: 2, Model: HMCS})
	p := f.Port(1)
	var requests [threads]Request
	var ended [threads]chan uint64
	for i := range requests {
		requests[i], _ = p.Irecv(make([]byte, 8), Envelope{Peer: 0, Tag: int32(i)})
		s := p.ops.seat(requests[i].op.index)
		ended[i] = make(chan uint64)
		go func() {
			_, err := requests[i].Wait()
			assert.NoError(t, err)
			ended[i] <- s.woken
		}()
		until(t, "thread in the list", func() bool { return waiting(p) == i })
		until(t, "sleep", func() bool { return i == 0 || sleeps(s) })
	}
	end := func(i int) {
		require.NoError(t, f.Port(0).Send(number(i), Envelope{Peer: 1, Tag: int32(i)}))
		select {
		case woken := <-ended[i]:
			assert.EqualValues(t, min(i, 1), woken, "wake-ups of thread %d; the first never sleeps", i)
		case <-time.After(time.Minute):
			require.Fail(t, "no signal", "thread %d", i)
		}
	}
	for _, i := range []int{3, 5, 0, 4} {
		end(i)
	}
	// 0 was the server and made 1 the next, as it had waited longest.
	until(t, "next server", func() bool { return p.ops.seat(requests[1].op.index).role.Load() == serving })
	assert.LessOrEqual(t, p.ops.seat(requests[2].op.index).role.Load(), uint32(asleep))
	end(2)
	end(1)
	until(t, "end of service", func() bool { return !serves(p) })
}

// waiting counts a port's threads that line up, and serves tells whether one polls.
func waiting(p *Port) (n int) {
	e := p.enter()
	defer p.leave(e)
	for s := p.first; s != nil; s = s.next {
		if s.role.Load() == asleep {
			n++
		}
	}
	if !p.served {
		return -1
	}
	return n
}

func serves(p *Port) bool {
	e := p.enter()
	defer p.leave(e)
	return p.served
}
