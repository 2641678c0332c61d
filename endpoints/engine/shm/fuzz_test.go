// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// forged is a cell as a peer could write it.
func forged(kind uint32, source int32, length uint32, words ...uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(source))
	b = binary.LittleEndian.AppendUint32(b, length)
	for i := range ring.Inline / 8 {
		w := uint64(0)
		if i < len(words) {
			w = words[i]
		}
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

const forgedSize = 12 + ring.Inline

// write puts forged cells into a track, and calls then after each.
func write(p *Port, script []byte, then func()) {
	for ; len(script) >= forgedSize; script = script[forgedSize:] {
		c, turn := p.node.track(place{process: 1}).Claim()
		if c == nil {
			return
		}
		c.Kind = binary.LittleEndian.Uint32(script[0:])
		c.Source = int32(binary.LittleEndian.Uint32(script[4:]))
		c.Length = binary.LittleEndian.Uint32(script[8:])
		copy(c.Inline[:], script[12:])
		c.Publish(turn)
		then()
	}
}

// offering has rank 1 of a pair offer 300,000 bytes, with the key firstKey: more than
// there are packets for parts.
func offering(t *testing.T) (peer, victim *Port) {
	peer, victim = pair(t, Options{Streams: true})
	outcome, err := victim.Send(0, 0, 0, make([]byte, 300_000), 1)
	require.NoError(t, err)
	require.Equal(t, carrier.Pending, outcome)
	return peer, victim
}

const firstKey = 1 << 32 // of the first turn of the first slot, of sends and of receives

// cells are what a peer writes; the last one makes sense, or cuts it off.
var cells = func() map[string]script {
	offer := func(bytes uint64) []byte { return forged(carrier.Offer, 0, 0, 1, 0x1000, bytes) }
	ask := forged(cellAsk, 0, 0, firstKey, 7, 300_000)
	done := forged(cellDone, 0, 0, firstKey)
	return map[string]script{
		"inline":                     {forged(carrier.Inline, 0, 40), false},
		"inline, too long":           {forged(carrier.Inline, 0, 41), true},
		"of another's rank":          {forged(carrier.Inline, 1, 4), true},
		"of no rank":                 {forged(carrier.Inline, -1, 4), true},
		"packet":                     {forged(carrier.Kept, 0, 16<<10, 63), false},
		"packet, too long":           {forged(carrier.Kept, 0, 16<<10+1, 63), true},
		"no such packet":             {forged(carrier.Kept, 0, 1, 64), true},
		"no such packet by far":      {forged(carrier.Kept, 0, 1, 1<<32), true},
		"offer":                      {offer(100), false},
		"offer, long":                {offer(math.MaxInt), false},
		"offer, too long":            {offer(math.MaxInt + 1), true},
		"offer of nothing":           {offer(0), true},
		"ask":                        {ask, false},
		"ask twice":                  {slices.Concat(ask, ask), true},
		"ask for too much":           {forged(cellAsk, 0, 0, firstKey, 7, 300_001), true},
		"ask for nothing":            {forged(cellAsk, 0, 0, firstKey, 7, 0), true},
		"ask for no send":            {forged(cellAsk, 0, 0, firstKey+1, 7, 1), true},
		"done":                       {done, false},
		"done twice":                 {slices.Concat(done, done), true},
		"done, of another turn":      {forged(cellDone, 0, 0, 5*firstKey), true},
		"done, though asked":         {slices.Concat(ask, done), true},
		"part":                       {slices.Concat(offer(100), forged(cellPart, 0, 100, firstKey, 3)), false},
		"part, too long":             {slices.Concat(offer(100), forged(cellPart, 0, 101, firstKey, 3)), true},
		"part, of no packet":         {slices.Concat(offer(100), forged(cellPart, 0, 1, firstKey, 64)), true},
		"part of nothing":            {slices.Concat(offer(100), forged(cellPart, 0, 0, firstKey, 3)), true},
		"part, longer than a packet": {slices.Concat(offer(100_000), forged(cellPart, 0, 16<<10+1, firstKey, 3)), true},
		"part nobody waits for":      {forged(cellPart, 0, 1, firstKey, 3), true},
		"no kind":                    {forged(99, 0, 0), true},
		"the engine's own kind":      {forged(0, 0, 0), true},
	}
}()

type script struct {
	cells  []byte
	cutOff bool
}

func TestCellsMustMakeSense(t *testing.T) {
	for name, s := range cells {
		t.Run(name, func(t *testing.T) {
			peer, victim := offering(t)
			write(peer, s.cells, func() { drain(t, victim) })
			assert.Equal(t, s.cutOff, victim.Gone(0))
		})
	}
}

// Contract: whatever cells a peer puts into a track, the port comes to an end with
// them, what it says has arrived can be fetched into a buffer of that size, nothing but
// the fetched bytes changes there, and a send ends once.
func FuzzCells(f *testing.F) {
	for _, s := range cells {
		f.Add(s.cells)
	}
	f.Fuzz(func(t *testing.T, written []byte) {
		peer, victim := offering(t)
		sends := 0
		write(peer, written[:min(len(written), 40*forgedSize)], func() { sends += drain(t, victim) })
		assert.LessOrEqual(t, sends, 1)
	})
}

// drain takes all that there is and returns how many sends ended.
func drain(t *testing.T, p *Port) (sends int) {
	var e carrier.Event
	for rounds := 0; p.Poll(&e); rounds++ {
		require.Less(t, rounds, 1000)
		switch e.Kind {
		case carrier.Arrived:
			size := min(carrier.Bytes(&e.Cell), 1<<17)
			require.GreaterOrEqual(t, size, 0)
			buf := make([]byte, size+64)
			_, err := p.Fetch(&e.Cell, buf[:size:size], 2)
			require.NoError(t, err)
			require.Equal(t, make([]byte, 64), buf[size:])
		case carrier.Sent:
			sends++
		}
	}
	return sends
}

// Contract: whatever a peer writes over the words of its own segment and of its tracks in
// ours, calls come to an end, and what arrives can be fetched as above.
func FuzzMemory(f *testing.F) {
	f.Add(uint16(0), uint64(math.MaxUint64), uint16(1), uint64(1)<<63)
	f.Add(uint16(100), uint64(1), uint16(5000), uint64(math.MaxUint32))
	f.Fuzz(func(t *testing.T, at1 uint16, value1 uint64, at2 uint16, value2 uint64) {
		peer, victim := pair(t, Options{Cells: 8, Streams: true})
		theirs, ours := peer.node.peers[0].segment, peer.node.peers[1].segment
		scribble := func(at uint16, value uint64) {
			for _, s := range []*segment{theirs, ours} {
				tracks := s.memory[pageSize:s.slab(0)] // bells, words of packets, tracks
				binary.LittleEndian.PutUint64(tracks[int(at)%(len(tracks)/8)*8:], value)
			}
		}
		for i := range 30 {
			switch i {
			case 10:
				scribble(at1, value1)
			case 20:
				scribble(at2, value2)
			}
			_, _ = peer.Send(1, 0, 0, make([]byte, 100*i), 0)
			_, _ = victim.Send(0, 0, 0, make([]byte, 1000*i), 0)
			drain(t, victim)
		}
	})
}

// Contract: a header is accepted if and only if a segment of its layout has the size
// that the file has, and the counts that the peer announced.
func FuzzHeader(f *testing.F) {
	good := layout{ports: 2, processes: 3, least: 64, cells: 128, packet: 16 << 10}
	f.Add(uint64(magic), uint64(version), uint64(good.size()), uint64(2), uint64(3), uint64(64), uint64(128), uint64(16<<10), int64(good.size()))
	f.Add(uint64(magic), uint64(version), uint64(good.size()), uint64(2), uint64(3), uint64(64), uint64(1<<62), uint64(1<<40), int64(good.size()))
	f.Add(uint64(magic), uint64(2), uint64(good.size()), uint64(2), uint64(3), uint64(64), uint64(128), uint64(16<<10), int64(good.size()))
	f.Add(uint64(magic), uint64(version), uint64(good.size()), uint64(2), uint64(3), uint64(64), uint64(128), uint64(16<<10), int64(good.size()-pageSize))
	f.Add(uint64(magic), uint64(version), uint64(good.size()-pageSize), uint64(2), uint64(3), uint64(64), uint64(128), uint64(16<<10), int64(good.size()-pageSize))
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), int64(0))
	f.Fuzz(func(t *testing.T, m, v, size, ports, processes, least, cells, packet uint64, file int64) {
		id := identity{magic: m, version: v, size: size, ports: ports, processes: processes, least: least, cells: cells, packet: packet}
		l, err := id.layout(2, 3, file)
		if err != nil {
			return
		}
		require.Equal(t, layout{2, 3, int(least), int(cells), int(packet)}, l)
		require.EqualValues(t, file, l.size())
		require.LessOrEqual(t, l.slab(1)+packetsPer*l.packet, int(file))
	})
}
