// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
)

// A Region is memory of a port that others put into and get from, as long as they have its key.
type Region struct {
	port   *Port
	id     uint64
	memory []byte
	users  atomic.Int64 // accesses under way
}

// KeySize is how many bytes a key has.
const KeySize = 24

// A Key names a region to all ports of a fabric: its port, number and size. Its bytes may be sent to them.
type Key [KeySize]byte

// regions are those of a port. Any thread may call their methods.
type regions struct {
	lock  sync.RWMutex
	byID  map[uint64]*Region
	count uint64 // of all that there ever were: no number is used twice
}

// Register makes memory a region. It starts at a multiple of 8, as all that make returns does.
func (p *Port) Register(memory []byte) (*Region, error) {
	if p.fabric.closed.Load() {
		return nil, ErrClosed
	}
	if len(memory) == 0 || !isAligned(memory) {
		return nil, fmt.Errorf("port %d: register %d bytes: a region has at least one, and starts at a multiple of %d", p.rank, len(memory), wordSize)
	}
	r := &Region{port: p, memory: memory}
	s := &p.regions
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.byID == nil {
		s.byID = map[uint64]*Region{}
	}
	s.count++
	r.id = s.count
	s.byID[r.id] = r
	return r, nil
}

// Key returns what other ports name the region by.
func (r *Region) Key() (k Key) {
	binary.LittleEndian.PutUint32(k[0:], uint32(r.port.rank))
	binary.LittleEndian.PutUint64(k[8:], r.id)
	binary.LittleEndian.PutUint64(k[16:], uint64(len(r.memory)))
	return k
}

func (k *Key) rank() uint32 { return binary.LittleEndian.Uint32(k[0:]) }
func (k *Key) id() uint64   { return binary.LittleEndian.Uint64(k[8:]) }
func (k *Key) size() uint64 { return binary.LittleEndian.Uint64(k[16:]) }

// Free ends the region: every later access is ErrNoRegion. It returns when none is under way, and
// makes progress meanwhile. After an error, carriers may still use the memory until they are closed.
func (r *Region) Free() error {
	s := &r.port.regions
	s.lock.Lock()
	_, found := s.byID[r.id]
	delete(s.byID, r.id)
	s.lock.Unlock()
	if !found {
		return fmt.Errorf("port %d: free a region: %w", r.port.rank, ErrNoRegion)
	}
	return r.port.Await(func() bool { return r.users.Load() == 0 })
}

// enter returns a region for an access to n bytes from offset on, until leave; nil if there is none, or it has not so many.
func (s *regions) enter(id, offset, n uint64) *Region {
	s.lock.RLock()
	defer s.lock.RUnlock()
	r := s.byID[id]
	if r == nil || !fits(offset, n, uint64(len(r.memory))) {
		return nil
	}
	r.users.Add(1)
	return r
}

func (r *Region) leave() { r.users.Add(-1) }

func fits(offset, n, size uint64) bool { return offset <= size && n <= size-offset }
