// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/frame"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

// A Rail says where a virtual rail is: a device that is open, and a NUMA node for the rail's memory, or AnyNode. Several rails may share
// the port of a device, which each opens itself.
type Rail struct {
	Device *Device
	Node   int
}

// AnyNode stands for no NUMA node.
const AnyNode = -1

const (
	slotsEach = 64  // frames of each peer, for which a rail has memory
	mostSlots = 512 // but no more than for so many in all
	atOnce    = 16  // slots that a port gives back together
)

// A rail is what some ports of a process share, those of one of its parts: a completion queue, the memory for what comes, a
// cache of registrations, in a protection domain of their own. They poll no other rail's.
type rail struct {
	node        *Node
	index       int
	device      *Device
	place       int // NUMA node, or AnyNode
	cache       *regcache.Cache
	unwatch     func() // ends that the cache is told of memory that goes
	completions *queue.Completions
	receives    *queue.Receives
	room        int           // for so many completions
	lanes       sync.Map      // by the number of its queue pair: *lane
	watch       carrier.Watch // on the completions
	watching    bool

	slots      int    // for frames that come
	memory     []byte // of the slots
	at         uint64 // its address
	registered regcache.Memory
	posted     atomic.Int32 // slots that the device has

	polling sync.Mutex // who holds it takes completions; it is locked before lanes are
	taken   [16]queue.Completion
	doomed  []ending
	polls   atomic.Uint64 // how often completions were asked for
}

// An ending is what has befallen a link, found out while locks are held.
type ending struct {
	link   *link
	fate   int32
	detail string
}

// railOf returns which of so many rails serves one of so many ports of a process: each serves as many as any other, but for one, and ports
// that follow each other.
func railOf(port, ports, rails int) int { return port * rails / ports }

// firstOf returns the first port that a rail serves.
func firstOf(rail, ports, rails int) int { return (rail*ports + rails - 1) / rails }

// slotSize is the length of the memory for a frame, in bytes.
func (n *Node) slotSize() int {
	return (frame.HeaderSize + max(n.options.Eager, offerWords*frame.WordSize) + 63) &^ 63
}

// begin makes what the rail has, for so many lanes, of which spare bytes are for the cache.
func (r *rail) begin(lanes int, spare int64) (err error) {
	return onNode(r.place, func() error { return r.makeAll(lanes, spare) })
}

func (r *rail) makeAll(lanes int, spare int64) (err error) {
	n := r.node
	if r.cache, err = regcache.New(r.device.device, regcache.Options{Bytes: spare}); err != nil {
		return err
	}
	if r.unwatch, err = verbs.Watch(r.cache.Journal()); err != nil {
		return err
	}
	r.room = r.slots + max(lanes, 1)*(sendSlots+maxReads)
	if r.completions, err = r.device.port.NewCompletions(r.room); err != nil {
		return err
	}
	if r.receives, err = r.device.port.NewReceives(r.slots); err != nil {
		return err
	}
	if r.memory, r.at, r.registered, err = r.slotMemory(r.slots); err != nil {
		return err
	}
	for slot := range uint32(r.slots) {
		if err := r.post(slot); err != nil {
			return err
		}
	}
	err = r.watch.Start(r.completions.File(), func() {
		r.completions.Arm()
		n.progress(r, true) // what came before is not told of
	}, func() {
		r.completions.Heed()
		n.progress(r, true)
	})
	r.watching = err == nil
	return err
}

// stop ends the watch, if there is one.
func (r *rail) stop() {
	if r.watching {
		r.watch.Stop()
	}
}

// free gives back what begin has made, as far as it has got, and closes the device. Nobody uses the rail.
func (r *rail) free() error {
	if r.watching {
		r.watch.Close()
	}
	if r.receives != nil {
		r.receives.Close()
	}
	if r.completions != nil {
		r.completions.Close()
	}
	if r.memory != nil {
		r.dropMemory(r.memory, r.registered)
	}
	if r.unwatch != nil {
		r.unwatch()
	}
	var err error
	if r.cache != nil {
		err = r.cache.Close()
	}
	return errors.Join(err, r.device.Close())
}

// slotMemory makes and registers memory for so many frames. It is not Go's, so that its pages are where they are wanted.
func (r *rail) slotMemory(slots int) (memory []byte, at uint64, registered regcache.Memory, err error) {
	size := slots * r.node.slotSize()
	memory, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, 0, registered, fmt.Errorf("map %d bytes: %w", size, err)
	}
	span := regcache.RangeOf(memory)
	if registered, err = r.device.device.Register(span, verbs.LocalWrite); err != nil {
		_ = unix.Munmap(memory)
		return nil, 0, registered, fmt.Errorf("register %d bytes: %w: raise ulimit -l", size, err)
	}
	return memory, span.Start, registered, nil
}

// dropMemory gives memory back that slotMemory has made. The device does not reach it any more.
func (r *rail) dropMemory(memory []byte, registered regcache.Memory) {
	r.device.device.Deregister(registered)
	_ = unix.Munmap(memory)
}

// slot returns the memory of a frame that has come.
func (r *rail) slot(i uint32) []byte {
	size := r.node.slotSize()
	return r.memory[int(i)*size : (int(i)+1)*size]
}

// post has the device put a frame that comes into a slot.
func (r *rail) post(slot uint32) error {
	size := r.node.slotSize()
	r.posted.Add(1)
	return r.receives.Post(uint64(slot), r.at+uint64(slot)*uint64(size), size, r.registered.Local)
}

// giveBack posts slots that are not needed any more.
func (r *rail) giveBack(slots ...uint32) {
	for _, slot := range slots {
		if err := r.post(slot); err != nil {
			r.polling.Lock()
			r.doomAll(err)
			r.polling.Unlock()
		}
	}
}

// starves tells whether the device has less than half of the slots: then nobody keeps any.
func (r *rail) starves() bool { return int(r.posted.Load()) < r.slots/2 }

// What a completion of a lane's is about, beside the slot or the number of the receive. That of a frame that has come has the slot
// alone.
const (
	ofSend = 1 + iota
	ofRead
)

func id(of int, index uint32) uint64 { return uint64(of)<<62 | uint64(index) }

const takesAtOnce = 8 // calls of take by one progress

// progress acts on what a rail has completed. Whoever cannot wait leaves it to another thread that does that already.
func (n *Node) progress(r *rail, wait bool) {
	if wait {
		r.polling.Lock()
	} else if !r.polling.TryLock() {
		return
	}
	for range takesAtOnce {
		if !r.take() {
			break
		}
	}
	doomed := r.doomed
	r.doomed = nil
	r.polling.Unlock()
	for _, d := range doomed {
		d.link.bury(d.fate, d.detail)
	}
}

// progressAll is progress of each rail.
func (n *Node) progressAll() {
	for _, r := range n.rails {
		n.progress(r, true)
	}
}

// take takes completions, and tells whether there were any.
//
// Preconditions: polling is locked.
func (r *rail) take() bool {
	r.polls.Add(1)
	count, err := r.completions.Poll(r.taken[:])
	if err != nil {
		r.doomAll(err)
	}
	for i := range r.taken[:count] {
		c := &r.taken[i]
		found, known := r.lanes.Load(c.Pair)
		if c.ID>>62 != 0 {
			if known {
				found.(*lane).done(c)
			}
			continue
		}
		r.posted.Add(-1)
		slot, kept := uint32(c.ID), false
		if known {
			kept = r.came(found.(*lane), slot, c)
		}
		if kept {
			continue
		}
		if err := r.post(slot); err != nil {
			r.doomAll(err)
		}
	}
	return count > 0
}

// doomAll dooms all links: the rail is broken.
func (r *rail) doomAll(err error) {
	for _, l := range r.node.links {
		if l != nil {
			r.doomed = append(r.doomed, ending{l, unable, err.Error()})
		}
	}
}

// came acts on a frame that has come by a lane, and tells whether a port keeps its slot.
func (r *rail) came(a *lane, slot uint32, c *queue.Completion) (kept bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	switch {
	case a.over || a.deaf:
		return false
	case c.Status != queue.Fine:
		a.link.wound(c.Status.String())
		return false
	}
	a.link.came.Add(1)
	kept, sense := a.frameCame(r.slot(slot)[:c.Length], slot)
	if !sense {
		a.deaf = true
		r.doomed = append(r.doomed, ending{a.link, broken, ""})
	}
	return kept
}
