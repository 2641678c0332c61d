// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"encoding/binary"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// put sends one message if there is room.
func put(r *Ring, source int32, n uint64) bool {
	c, turn := r.Claim()
	if c == nil {
		return false
	}
	c.Source, c.Length = source, 8
	binary.LittleEndian.PutUint64(c.Inline[:], n)
	c.Publish(turn)
	return true
}

// take receives one message if there is one.
func take(r *Ring) (source int32, n uint64, ok bool) {
	c := r.Front()
	if c == nil {
		return 0, 0, false
	}
	source, n = c.Source, binary.LittleEndian.Uint64(c.Inline[:])
	r.Pop()
	return source, n, true
}

func TestCapacityIsAPowerOfTwo(t *testing.T) {
	for _, bad := range []int{-1, 0, 1, 3, 48, 2 * MaxCapacity} {
		_, err := New(bad)
		assert.ErrorContains(t, err, "take a power of two from 2", "%d", bad)
		_, err = At(make([]byte, HeaderSize), make([]byte, 1<<12), bad, nil)
		assert.Error(t, err, "%d", bad)
	}
	_, err := At(make([]byte, HeaderSize-1), make([]byte, 4*CellSize), 4, nil)
	assert.ErrorContains(t, err, "needs 128 bytes")
	_, err = At(make([]byte, HeaderSize), make([]byte, 4*CellSize), 8, nil)
	assert.EqualError(t, err, "ring of at least 8 and at most 4 cells")
	_, err = At(make([]byte, HeaderSize), make([]byte, 5*CellSize), 2, nil)
	assert.ErrorContains(t, err, "ring of 5 cells")
}

// A full ring refuses and takes as many again as were popped, at the latest with the
// batch.
func TestFullRefuses(t *testing.T) {
	r, err := New(8)
	require.NoError(t, err)
	var in, out uint64
	for range 1000 {
		for put(r, 0, in) {
			in++
		}
		require.Equal(t, out+8, in)
		for range 2 { // a batch of 8 cells
			_, n, ok := take(r)
			require.True(t, ok)
			require.Equal(t, out, n)
			out++
		}
	}
}

// Positions beyond the bits of a turn: it wraps.
func TestTurnWraps(t *testing.T) {
	r, err := New(4)
	require.NoError(t, err)
	start := uint64(1<<(32-changeBits) - 6)
	r.p.tail.Store(start << doublingBits)
	r.p.seen.Store(start)
	r.c.head.Store(start)
	r.next, r.published = start, start
	for n := range uint64(20) {
		_, _, ok := take(r)
		require.False(t, ok, "empty at %d", n)
		require.True(t, put(r, 0, n))
		_, got, ok := take(r)
		require.True(t, ok)
		require.Equal(t, n, got)
	}
}

// A cell that was claimed first comes out first, even if published last.
func TestOrderIsThatOfClaims(t *testing.T) {
	r, err := New(4)
	require.NoError(t, err)
	first, turn := r.Claim()
	require.NotNil(t, first)
	require.True(t, put(r, 2, 2))
	assert.Nil(t, r.Front(), "behind one that is not published")
	first.Source = 1
	first.Publish(turn)
	source, _, _ := take(r)
	assert.EqualValues(t, 1, source)
	source, _, _ = take(r)
	assert.EqualValues(t, 2, source)
}

// flood sends count messages from each of several threads through in, and checks at
// out that each producer's come in order and whole.
func flood(t *testing.T, in, out *Ring, producers, count int) {
	var all sync.WaitGroup
	for p := range producers {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range count {
				for !put(in, int32(p), uint64(n)) {
					runtime.Gosched()
				}
			}
		}()
	}
	next := make([]uint64, producers)
	for got := 0; got < producers*count; {
		source, n, ok := take(out)
		if !ok {
			runtime.Gosched()
			continue
		}
		require.Equal(t, next[source], n, "producer %d", source)
		next[source]++
		got++
	}
	all.Wait()
	assert.Nil(t, out.Front(), "nothing is doubled")
}

func TestManyProducers(t *testing.T) {
	for _, capacity := range []int{2, 8, 512} {
		r, err := New(capacity)
		require.NoError(t, err)
		flood(t, r, r, 4, 20000)
	}
}

// shared makes handles on one ring at two addresses, as two processes have it.
func shared(t *testing.T, least, most int, release func(cells []byte)) (in, out *Ring) {
	fd, err := unix.MemfdCreate("ring", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	page := os.Getpagesize()
	size := page + most*CellSize
	require.NoError(t, unix.Ftruncate(fd, int64(size)))
	var views [2]*Ring
	for i := range views {
		memory, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, unix.Munmap(memory)) })
		cells := memory[page:]
		views[i], err = At(memory[:HeaderSize], cells, least, func(from, to int) { release(cells[from*CellSize : to*CellSize]) })
		require.NoError(t, err)
	}
	return views[0], views[1]
}

func TestSharedMapping(t *testing.T) {
	in, out := shared(t, 64, 64, nil)
	flood(t, in, out, 3, 20000)
}

// Warm changes nothing, whatever the next cell holds.
func TestWarmChangesNothing(t *testing.T) {
	r, err := New(2)
	require.NoError(t, err)
	for n := range uint64(10) {
		for put(r, 0, n) {
			r.Warm()
		}
		r.Warm() // the next cell holds a message
		for range 2 {
			_, got, ok := take(r)
			require.True(t, ok)
			require.Equal(t, n, got)
			r.Warm()
		}
	}
}

func TestNoAllocation(t *testing.T) {
	r, err := New(16)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		put(r, 1, 1)
		take(r)
	}))
}
