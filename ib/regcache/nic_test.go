// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

const base = uint64(1 << 40) // where the memory of the tests begins; a multiple of any page

// at returns the range of so many pages.
func at(first, n int) Range {
	start := base + uint64(first)*page
	return Range{start, start + uint64(n)*page}
}

// A nic is a Registrar over memory of its own: each page is mapped or not, and counts how
// often it was mapped anew. It remembers which mapping it registered, as a NIC does, and
// complains of all that a NIC would suffer from in silence.
type nic struct {
	t        testing.TB
	mapped   []atomic.Uint64   // odd: there; even: gone
	limit    atomic.Int64      // pages that may be locked; 0: any number
	journal  bool              // unmap tells the journal
	inside   func(Range)       // runs in Register, before pages are looked at
	refuse   func(Range) error // of Register
	locked   atomic.Int64
	next     atomic.Uintptr
	live     sync.Map // handle -> *registration
	register atomic.Int64
}

type registration struct {
	Range
	access Access
	pages  []uint64 // mapped, as registered
	users  atomic.Int64
}

func newNIC(t testing.TB, pages int) *nic {
	n := &nic{t: t, mapped: make([]atomic.Uint64, pages)}
	for i := range n.mapped {
		n.mapped[i].Store(1)
	}
	return n
}

func (n *nic) Register(r Range, access Access) (Memory, error) {
	if n.inside != nil {
		n.inside(r)
	}
	if n.refuse != nil {
		if err := n.refuse(r); err != nil {
			return Memory{}, err
		}
	}
	reg := &registration{Range: r, access: access}
	for a := r.Start; a < r.End; a += page {
		m := n.mapped[(a-base)/page].Load()
		if m%2 == 0 {
			return Memory{}, syscall.EFAULT
		}
		reg.pages = append(reg.pages, m)
	}
	if limit := n.limit.Load(); n.locked.Add(int64(len(reg.pages))) > limit && limit != 0 {
		n.locked.Add(-int64(len(reg.pages)))
		return Memory{}, syscall.ENOMEM
	}
	n.register.Add(1)
	h := n.next.Add(1)
	n.live.Store(h, reg)
	return Memory{Local: uint32(h), Remote: uint32(h), Handle: h}, nil
}

func (n *nic) Deregister(m Memory) {
	v, ok := n.live.LoadAndDelete(m.Handle)
	if !ok {
		n.t.Errorf("memory %d is deregistered twice", m.Handle)
		return
	}
	reg := v.(*registration)
	n.locked.Add(-int64(len(reg.pages)))
	if reg.users.Load() != 0 {
		n.t.Errorf("%v is deregistered while in use", reg.Range)
	}
}

// use checks that a transfer of r by region reaches the memory that is there now, and
// counts a user until done is called.
func (n *nic) use(r Range, access Access, region *Region) (done func()) {
	v, ok := n.live.Load(region.Memory.Handle)
	if !ok {
		n.t.Errorf("%v is served by %v, which is not registered", r, region.Range)
		return func() {}
	}
	reg := v.(*registration)
	reg.users.Add(1)
	if reg.Range != region.Range || !reg.covers(r) || reg.access&access != access {
		n.t.Errorf("%v is served by %v, registered as %v for %b, not %b", r, region.Range, reg.Range, reg.access, access)
		return func() { reg.users.Add(-1) }
	}
	for a := r.Start &^ (page - 1); a < r.End; a += page {
		if now, then := n.mapped[(a-base)/page].Load(), reg.pages[(a-reg.Start)/page]; now != then {
			n.t.Errorf("%v is served by a stale registration of %v: page %#x was mapping %d, is %d", r, reg.Range, a, then, now)
		}
	}
	return func() { reg.users.Add(-1) }
}

// unmap lets the memory of whole pages go, after the cache was told; remap brings it back.
func (n *nic) unmap(c *Cache, r Range) {
	if n.journal {
		c.journal.tell(r)
	} else {
		c.Invalidate(r)
	}
	n.count(r)
}

func (n *nic) remap(r Range) { n.count(r) }

func (n *nic) count(r Range) {
	for a := r.Start; a < r.End; a += page {
		n.mapped[(a-base)/page].Add(1)
	}
}

// registered lists what is registered now, in any order.
func (n *nic) registered() []string {
	list := []string{}
	n.live.Range(func(_, v any) bool {
		reg := v.(*registration)
		list = append(list, fmt.Sprint(reg.Range, " ", reg.access))
		return true
	})
	return list
}

// closed closes the cache, which must leave nothing registered.
func (n *nic) closed(c *Cache) {
	if err := c.Close(); err != nil {
		n.t.Error(err)
	}
	if left := n.registered(); len(left) > 0 {
		n.t.Errorf("left registered: %v", left)
	}
	if regions, bytes := c.Registered(); regions != 0 || bytes != 0 {
		n.t.Errorf("the cache counts %d regions and %d bytes when all are gone", regions, bytes)
	}
}
