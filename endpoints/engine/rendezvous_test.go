// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"sync"
	"testing"

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
