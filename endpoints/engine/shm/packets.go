// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"math/bits"
	"sync/atomic"
)

// packets are a port's packets. Which of them are free only their port knows;
// receivers give them back by setting bits of one word.
type packets struct {
	segment  *segment
	port     int
	size     int
	free     uint64
	out      uint64            // sent, and not given back
	to       [packetsPer]int32 // the process
	returned *atomic.Uint64
}

func newPackets(own *segment, port int) packets {
	return packets{segment: own, port: port, size: own.layout.packet, free: 1<<packetsPer - 1, returned: own.returned(port)}
}

// What a port's packets are for. Packets with whole messages stay out until their
// receiver wants them; those with parts come back by themselves, so that a stream
// does not wait for what may wait for its end.
const (
	forMessages = 1<<48 - 1
	forParts    = ^uint64(forMessages)
	// warm are the packets that messages use as long as one of them is free: they
	// stay in the cache.
	warm = 0xff
)

// takeMessage returns a packet for a message to a process; its memory is nil if none
// is free.
func (s *packets) takeMessage(process int32) (number int, memory []byte) {
	if s.free&warm == 0 {
		s.collect()
	}
	return s.take(process, s.free&forMessages)
}

// hasPart tells whether a packet for a part is free.
func (s *packets) hasPart() bool {
	if s.free&forParts == 0 {
		s.collect()
	}
	return s.free&forParts != 0
}

// takePart is takeMessage for a part of a message.
func (s *packets) takePart(process int32) (number int, memory []byte) {
	s.hasPart()
	return s.take(process, s.free&forParts)
}

func (s *packets) take(process int32, from uint64) (number int, memory []byte) {
	if from == 0 {
		return 0, nil
	}
	number = bits.TrailingZeros64(from)
	s.free &^= 1 << number
	s.out |= 1 << number
	s.to[number] = process
	return number, s.segment.packetAt(s.port, number)
}

// untake takes a packet back that was not sent.
func (s *packets) untake(number int) {
	s.out &^= 1 << number
	s.free |= 1 << number
}

// collect takes what receivers have given back. A bit for a packet that is not out is
// a broken peer's.
func (s *packets) collect() {
	if s.returned.Load() == 0 {
		return
	}
	back := s.returned.Swap(0) & s.out
	s.out &^= back
	s.free |= back
}

// reclaim takes back what a process holds that is gone.
func (s *packets) reclaim(process int32) {
	s.collect()
	for number, to := range s.to {
		if bit := uint64(1) << number; s.out&bit != 0 && to == process {
			s.untake(number)
		}
	}
}
