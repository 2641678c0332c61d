// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Contract: whatever cells a peer puts into a lane, the port comes to an end with
// them, what it says has arrived can be fetched into a buffer of that size, and nothing
// but the fetched bytes changes there. A cell that makes no sense cuts the peer off.
func FuzzCells(f *testing.F) {
	cell := func(kind uint32, source int32, length uint32, words ...uint64) []byte {
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
	const turn1 = 1 << 32
	f.Add(cell(cellInline, 0, 40))
	f.Add(cell(cellInline, 0, 41))
	f.Add(cell(cellInline, 1, 4))
	f.Add(cell(cellPacket, 0, 16<<10, 63))
	f.Add(cell(cellPacket, 0, 16<<10+1, 63))
	f.Add(cell(cellPacket, 0, 1, 64))
	f.Add(cell(cellPacket, 0, 1, 1<<32))
	f.Add(cell(cellOffer, 0, 0, turn1, 0x1000, 100))
	f.Add(cell(cellOffer, 0, 0, turn1, 0, math.MaxInt))
	f.Add(cell(cellOffer, 0, 0, turn1, 0, math.MaxUint64))
	f.Add(cell(cellAsk, 0, 0, turn1, 7, 50_000))
	f.Add(append(cell(cellAsk, 0, 0, turn1, 7, 50_000), cell(cellAsk, 0, 0, turn1, 7, 50_000)...))
	f.Add(cell(cellAsk, 0, 0, turn1, 7, 50_001))
	f.Add(cell(cellAsk, 0, 0, turn1+1, 7, 1))
	f.Add(cell(cellAsk, -1, 0, turn1, 7, 1))
	f.Add(cell(cellDone, 0, 0, turn1))
	f.Add(append(cell(cellDone, 0, 0, turn1), cell(cellDone, 0, 0, turn1)...))
	f.Add(cell(cellDone, 0, 0, 5<<32))
	f.Add(append(cell(cellOffer, 0, 0, 1, 0x1000, 100), cell(cellPart, 0, 100, turn1, 3)...))
	f.Add(append(cell(cellOffer, 0, 0, 1, 0x1000, 100), cell(cellPart, 0, 101, turn1, 3)...))
	f.Add(append(cell(cellOffer, 0, 0, 1, 0x1000, 100), cell(cellPart, 0, 1, turn1, 64)...))
	f.Add(cell(cellPart, 0, 0, turn1, 3))
	f.Add(cell(99, 0, 0))

	f.Fuzz(func(t *testing.T, script []byte) {
		peer, victim := pair(t, Options{Streams: true})
		outcome, err := victim.Send(0, 0, 0, make([]byte, 50_000), 1)
		require.NoError(t, err)
		require.Equal(t, Pending, outcome)
		sends := 0
		const step = 12 + ring.Inline
		for ; len(script) >= step; script = script[step:] {
			c, turn := peer.node.peers[1].lanes[0].Claim()
			if c == nil {
				break
			}
			c.Kind = binary.LittleEndian.Uint32(script[0:])
			c.Source = int32(binary.LittleEndian.Uint32(script[4:]))
			c.Length = binary.LittleEndian.Uint32(script[8:])
			copy(c.Inline[:], script[12:])
			c.Publish(turn)
			sends += drain(t, victim)
		}
		assert.LessOrEqual(t, sends, 1, "one send ends once")
	})
}

// drain takes all that there is and returns how many sends ended.
func drain(t *testing.T, p *Port) (sends int) {
	var e Event
	for rounds := 0; p.Poll(&e); rounds++ {
		require.Less(t, rounds, 1000)
		switch e.Kind {
		case Arrived:
			size := min(Bytes(&e.Cell), 1<<20)
			require.GreaterOrEqual(t, size, 0)
			buf := make([]byte, size+64)
			_, err := p.Fetch(&e.Cell, buf[:size:size], 2)
			require.NoError(t, err)
			require.Equal(t, make([]byte, 64), buf[size:])
		case Sent:
			sends++
		}
	}
	return sends
}

// Contract: whatever a peer writes over the words of its own segment and of its lanes in
// ours, calls come to an end, and what arrives can be fetched as above.
func FuzzMemory(f *testing.F) {
	f.Add(uint16(0), uint64(math.MaxUint64), uint16(1), uint64(1)<<63)
	f.Add(uint16(100), uint64(1), uint16(5000), uint64(math.MaxUint32))
	f.Fuzz(func(t *testing.T, at1 uint16, value1 uint64, at2 uint16, value2 uint64) {
		peer, victim := pair(t, Options{Cells: 8, Streams: true})
		theirs, ours := peer.node.peers[0].segment, peer.node.peers[1].segment
		scribble := func(at uint16, value uint64) {
			for _, s := range []*segment{theirs, ours} {
				lanes := s.memory[pageSize:s.slab(0)] // bells, words of packets, lanes
				binary.LittleEndian.PutUint64(lanes[int(at)%(len(lanes)/8)*8:], value)
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
	good := layout{ports: 2, processes: 3, cells: 128, packet: 16 << 10}
	f.Add(uint64(magic), uint64(version), uint64(good.size()), uint64(2), uint64(3), uint64(128), uint64(16<<10), int64(good.size()))
	f.Add(uint64(magic), uint64(version), uint64(good.size()), uint64(2), uint64(3), uint64(1<<62), uint64(1<<40), int64(good.size()))
	f.Add(uint64(magic), uint64(2), uint64(good.size()), uint64(2), uint64(3), uint64(128), uint64(16<<10), int64(good.size()))
	f.Add(uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0), int64(0))
	f.Fuzz(func(t *testing.T, m, v, size, ports, processes, cells, packet uint64, file int64) {
		id := identity{magic: m, version: v, size: size, ports: ports, processes: processes, cells: cells, packet: packet}
		l, err := id.layout(2, 3, file)
		if err != nil {
			return
		}
		require.Equal(t, layout{2, 3, int(cells), int(packet)}, l)
		require.EqualValues(t, file, l.size())
		require.LessOrEqual(t, l.slab(1)+packetsPer*l.packet, int(file))
	})
}
