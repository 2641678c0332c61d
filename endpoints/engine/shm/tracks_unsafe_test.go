// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// many joins so many nodes of one rank, and returns their ports.
func many(t testing.TB, processes int) (ports []*Port) {
	var files unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &files))
	if files.Cur < 5000 {
		t.Skipf("%d nodes of one process need 5000 open files, of which ulimit -n allows %d", processes, files.Cur)
	}
	options := make([]Options, processes)
	for i := range options {
		options[i] = Options{First: i, Ports: 1, Total: processes}
	}
	for i, n := range joined(t, options...) {
		ports = append(ports, n.port(i))
	}
	return ports
}

// talk has each port send so many messages to each of those that partners names, all of which are then taken.
func talkTo(t testing.TB, ports []*Port, count int, partners func(i int) []int) {
	expected := make([]int, len(ports))
	for range count {
		for i, p := range ports {
			for _, to := range partners(i) {
				mustSend(t, p, to, 1, nil, 0)
				expected[to]++
			}
		}
	}
	for i, p := range ports {
		came := 0
		for e := new(carrier.Event); p.Poll(e); came++ {
			require.Equal(t, carrier.Arrived, e.Kind)
		}
		require.Equal(t, expected[i], came)
	}
}

// memoryOfTracks is how many bytes of the tracks to all ports the kernel has memory for.
func memoryOfTracks(t *testing.T, ports []*Port) (bytes int) {
	pages := make([]byte, 1<<20)
	for _, p := range ports {
		tracks := p.own.memory[:p.own.slab(0)]
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&tracks[0])), uintptr(len(tracks)), uintptr(unsafe.Pointer(&pages[0])))
		require.Zero(t, errno)
		for _, page := range pages[:len(tracks)/os.Getpagesize()] {
			bytes += int(page&1) * os.Getpagesize()
		}
	}
	return bytes
}

// A track takes memory, and a look in each poll, from the first message over it on. The figures are those of a ring of 64
// processes, and of one in which each has sent to each: the memory of all tracks.
func TestTracksOpenOnDemand(t *testing.T) {
	const processes, count = 64, 50 // messages, of the 64 that a track holds at first
	ports := many(t, processes)
	assert.LessOrEqual(t, memoryOfTracks(t, ports), processes*2*os.Getpagesize(), "before the first message")
	ring := func(i int) []int { return []int{(i + 1) % processes, (i + processes - 1) % processes} }
	talkTo(t, ports, count, ring)
	ofRing := memoryOfTracks(t, ports)
	for i, p := range ports {
		assert.ElementsMatch(t, ring(i), p.open, "port %d", i)
	}
	talkTo(t, ports, count, func(i int) []int {
		all := make([]int, processes)
		for j := range all {
			all[j] = j
		}
		return slices.Delete(all, i, i+1)
	})
	ofAll := memoryOfTracks(t, ports)
	assert.GreaterOrEqual(t, float64(ofAll), 1.7*float64(ofRing))
	t.Logf("ring: %d KiB, all to all: %d KiB, 1/%.1f", ofRing>>10, ofAll>>10, float64(ofAll)/float64(ofRing))
}

// A track becomes longer for bursts that do not fit, and gives its memory back when they end.
func TestTracksFollowTheTraffic(t *testing.T) {
	a, b := pair(t, Options{})
	e := new(carrier.Event)
	sent, came := int32(0), int32(0)
	takeAll := func() {
		for b.Poll(e) {
			require.Equal(t, carrier.Arrived, e.Kind)
			require.Equal(t, came, e.Cell.Tag)
			came++
		}
	}
	burst := func(count int) (refused int) {
		for end := sent + int32(count); sent < end; {
			outcome, err := a.Send(1, 7, sent, nil, 0)
			require.NoError(t, err)
			if outcome == carrier.Full {
				refused++
				takeAll()
				continue
			}
			sent++
		}
		takeAll()
		return refused
	}
	first := burst(60)
	small := memoryOfTracks(t, []*Port{a, b})
	assert.Zero(t, first)
	for range 20 {
		burst(700)
	}
	large := memoryOfTracks(t, []*Port{a, b})
	assert.Zero(t, burst(700), "refused by a track of 1,024 cells")
	for range 100_000 {
		burst(1)
	}
	assert.Equal(t, 15*64*ring.CellSize, large-small)
	assert.Equal(t, small, memoryOfTracks(t, []*Port{a, b}))
	require.Equal(t, sent, came)
}

// What a vain poll costs among 64 processes: with two open tracks, and with all.
func BenchmarkVainPoll(b *testing.B) {
	ports := many(b, 64)
	e := new(carrier.Event)
	vain := func(name string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ports[0].Poll(e)
			}
		})
	}
	open := func(from ...*Port) {
		for _, p := range from {
			mustSend(b, p, 0, 1, nil, 0)
		}
		for ports[0].Poll(e) {
		}
	}
	open(ports[1], ports[63])
	vain("open=2")
	open(ports[1:]...)
	vain("open=63")
}
