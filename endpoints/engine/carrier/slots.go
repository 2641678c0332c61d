// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

// Slots are numbered places for what waits for an answer of a peer. A key is a number
// with the turn of its use: an answer to an earlier use, or one that a peer made
// up, finds nothing.
type Slots[T any] struct {
	all  []slot[T]
	free []uint32
}

type slot[T any] struct {
	value T
	turn  uint32 // odd while in use
}

// Take returns a key and the place behind it, which stays until the next Take.
func (s *Slots[T]) Take() (key uint64, value *T) {
	if len(s.free) == 0 {
		s.all = append(s.all, slot[T]{})
		s.free = append(s.free, uint32(len(s.all)-1))
	}
	index := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.all[index].turn++
	return s.Key(index), &s.all[index].value
}

// Key returns the key of a number in its present use.
func (s *Slots[T]) Key(index uint32) uint64 { return uint64(s.all[index].turn)<<32 | uint64(index) }

// Find returns what is behind a key, nil if there is nothing.
func (s *Slots[T]) Find(key uint64) *T {
	index := uint32(key)
	if uint64(index) >= uint64(len(s.all)) || s.all[index].turn != uint32(key>>32) || s.all[index].turn&1 == 0 {
		return nil
	}
	return &s.all[index].value
}

// Drop frees a key that Find knows.
func (s *Slots[T]) Drop(key uint64) {
	var none T
	index := uint32(key)
	s.all[index].value = none
	s.all[index].turn++
	s.free = append(s.free, index)
}

// Used calls f for everything in use. f may drop it.
func (s *Slots[T]) Used(f func(key uint64, value *T)) {
	for i := range s.all {
		if s.all[i].turn&1 != 0 {
			f(s.Key(uint32(i)), &s.all[i].value)
		}
	}
}
