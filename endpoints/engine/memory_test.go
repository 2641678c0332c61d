// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heap returns the bytes that are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What a port takes before its first message, its share of the packets included. A port
// that threads share, by whatever model, has seats, too.
func TestMemoryOfAPort(t *testing.T) {
	const ports = 1000
	for _, model := range []Model{Private, Global} {
		before := heap()
		f := fabric(t, Options{Ports: ports, Model: model})
		took := int(heap()-before) / ports
		require.NoError(t, f.Close())
		t.Logf("%v: %d bytes", model, took)
		bound := 32 << 10
		if model != Private {
			bound = 40 << 10
		}
		assert.Less(t, took, bound, "%v", model)
	}
}

// A thread for each of very many ports: every port passes on what it got from the one
// before it, so that after some rounds it has the number of the port so far away.
func TestManyPortsTalk(t *testing.T) {
	const ports, rounds = 10_000, 2
	f := fabric(t, Options{Ports: ports})
	start := time.Now()
	var all sync.WaitGroup
	for rank := range ports {
		all.Go(func() {
			p, out, in := f.Port(rank), number(rank), number(0)
			for range rounds {
				s, err := p.Isend(out, Envelope{Peer: int32((rank + 1) % ports)})
				assert.NoError(t, err)
				_, err = p.Recv(in, Envelope{Peer: int32((rank + ports - 1) % ports)})
				assert.NoError(t, err)
				_, err = s.Wait()
				assert.NoError(t, err)
				copy(out, in)
			}
			if got := int(binary.LittleEndian.Uint64(in)); got != (rank+ports-rounds)%ports {
				t.Errorf("port %d got %d", rank, got)
			}
		})
	}
	all.Wait()
	assert.Less(t, time.Since(start), time.Minute, "seconds, where others use the machine too")
}
