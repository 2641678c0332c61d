// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

//go:build verbs

package verbs

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/ib/regcache"
	"github.com/tpsl/tpsl/ib/verbs"
	"github.com/tpsl/tpsl/ib/verbs/queue"
)

const (
	receiveSlots = 64 // frames that a peer may send before this side has taken them
	sendSlots    = 32 // frames that are on their way
	maxReads     = 8  // parts of messages that are being read
	maxRead      = 1 << 30
)

// What may be wrong with a peer.
const (
	fine   = iota
	left   // it has said so
	ended  // the connection to it has ended, or nobody listens at its address any more
	silent // it could not be reached for too long
	broken // it sends what makes no sense
	parted // it holds this process for gone
	failed // the queue pair has
	unable // this process cannot do what it takes
)

// A link is what this process shares with another one.
type link struct {
	node         *Node
	peer         int // the other process
	first, ports int // its ranks
	address      string

	lock      sync.Mutex
	fate      atomic.Int32 // fine, or what is wrong
	detail    string       // failed, unable: why
	dialling  bool
	answering bool         // the peer, who has dialled
	conn      *net.TCPConn // tells of the peer's end; nil: not connected
	pair      *queue.Pair  // nil: no connection was ever wanted
	number    uint32       // the pair's
	up        bool         // the peer's pair takes frames, too
	wounded   bool         // the pair has failed, and it is not known yet why

	memory     []byte // of frames: those to be received, then those to be sent
	at         uint64 // its address
	registered regcache.Memory
	free       []uint32 // slots of frames to be sent
	room       int      // frames for which the peer has posted memory
	taken      int      // frames that the peer does not know of to be taken

	early      []early   // that wait for the connection
	sent, came uint64    // frames
	waiting    []control // for a slot, or for room
	credit     []int64   // by port of the peer: how much more it takes
	sends      carrier.Slots[send]
	receives   carrier.Slots[receive]
	unread     []uint64       // receives that are to be read on, by key
	reads      int            // that are posted
	owed       []atomic.Int64 // by port of this process: what it has not taken of its window
}

// A control is a frame other than a message. It has one word.
type control struct {
	header
	word uint64
}

// A send is an offer that has not been taken.
type send struct {
	buf    []byte
	region *regcache.Region
	handle uint64
	port   *Port
	to     int32
}

// A receive is a message that is read from its sender's memory.
type receive struct {
	dst       []byte
	region    *regcache.Region
	handle    uint64
	port      *Port
	from      int32
	offer     uint64 // the sender's key
	remote    uint64 // the message's address there
	remoteKey uint32
	got       int
	posted    int // bytes of the read that is under way
}

func newLink(n *Node, process int) *link {
	p := n.options.Peers[process]
	l := &link{node: n, peer: process, first: p.First, ports: p.Ports, address: p.Address, room: receiveSlots}
	l.owed = make([]atomic.Int64, n.options.Peers[n.options.Process].Ports)
	l.credit = make([]int64, p.Ports)
	for i := range l.credit {
		l.credit[i] = int64(n.options.Window)
	}
	return l
}

// slotSize is the length of the memory for a frame, in bytes.
func (n *Node) slotSize() int {
	return (headerSize + max(n.options.Eager, offerWords*wordSize) + 63) &^ 63
}

// memorySize is the length of a link's memory for frames, in bytes.
func (n *Node) memorySize() int { return (receiveSlots + sendSlots) * n.slotSize() }

// slot returns the memory of a frame. Those to be sent follow those to be received.
func (l *link) slot(i uint32) []byte {
	size := l.node.slotSize()
	return l.memory[int(i)*size : (int(i)+1)*size]
}

func (l *link) addressOf(slot uint32) uint64 {
	return l.at + uint64(slot)*uint64(l.node.slotSize())
}

// What a completion is about: the link, and the slot or the number of the receive.
const (
	ofReceive = iota
	ofSend
	ofRead
)

func (l *link) id(of int, index uint32) uint64 {
	return uint64(of)<<62 | uint64(l.peer)<<32 | uint64(index)
}

// prepare makes the pair, and posts memory for what the peer will send, unless that was done before.
//
// Preconditions: the lock is held.
func (l *link) prepare() (err error) {
	if l.pair != nil {
		return nil
	}
	n := l.node
	l.memory = make([]byte, n.memorySize())
	r := regcache.RangeOf(l.memory)
	l.at = r.Start
	if l.registered, err = n.device.device.Register(r, verbs.LocalWrite); err != nil {
		return fmt.Errorf("register %d bytes: %w: raise ulimit -l", len(l.memory), err)
	}
	l.pair, err = n.device.port.NewPair(n.completions, sendSlots+maxReads, receiveSlots)
	if err != nil {
		n.device.device.Deregister(l.registered)
		return err
	}
	l.number = l.pair.Address().Number
	for slot := range uint32(receiveSlots) {
		if err := l.post(slot); err != nil {
			return err
		}
	}
	for slot := range uint32(sendSlots) {
		l.free = append(l.free, receiveSlots+slot)
	}
	return nil
}

// post has the device put a frame that comes into a slot.
func (l *link) post(slot uint32) error {
	return l.pair.Receive(l.id(ofReceive, slot), l.addressOf(slot), l.node.slotSize(), l.registered.Local)
}

// answerLimit is how long the peer's own end has to be told of, when a queue pair has failed: it is why, most often.
const answerLimit = time.Second

// wound notes that the pair has failed.
//
// Preconditions: the lock is held.
func (l *link) wound(why string) {
	if l.wounded || l.fate.Load() != fine {
		return
	}
	l.wounded = true
	n := l.node
	n.busy.Go(func() {
		select {
		case <-time.After(answerLimit):
			if trouble := n.device.trouble(); trouble != "" {
				why += ": " + trouble
			}
			n.end(l, failed, why)
		case <-n.open.Done():
		}
	})
}

// end ends a link when all that has come of the peer is with the ports.
func (n *Node) end(l *link, fate int32, detail string) {
	n.polling.Lock()
	defer n.polling.Unlock()
	for left := n.room; left > 0 && n.take(); left -= len(n.taken) { // what comes later is not waited for
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	l.bury(fate, detail)
}

// bury ends all that is under way with a peer. When the pair is closed, the device does not reach buffers any more.
//
// Preconditions: the lock is held.
func (l *link) bury(fate int32, detail string) {
	if l.fate.Load() != fine {
		return
	}
	l.detail = detail
	l.fate.Store(fate)
	if l.conn != nil {
		l.conn.Close()
	}
	if l.pair != nil {
		l.pair.Close()
		l.node.device.device.Deregister(l.registered)
	}
	l.up, l.memory, l.free, l.early, l.waiting, l.unread = false, nil, nil, nil, nil, nil
	l.sends.Used(func(key uint64, _ *send) { l.endSend(key, true) })
	l.receives.Used(func(key uint64, _ *receive) { l.endReceive(key, true) })
	for _, p := range l.node.ports {
		p.events.Put(event{kind: carrier.Gone, peer: l.peer})
		p.Bell().Ring()
	}
}

// gone returns nil, or a GoneError of a rank of the peer's.
func (l *link) gone(rank int) error {
	var why string
	switch l.fate.Load() {
	case fine:
		return nil
	case left:
		why = "its process has closed its node"
	case ended:
		why = fmt.Sprintf("its process has ended: its connection at %s is over", l.address)
	case silent:
		why = fmt.Sprintf("its process could not be reached at %s for too long", l.address)
	case broken:
		why = fmt.Sprintf("what its process at %s sends makes no sense", l.address)
	case parted:
		why = fmt.Sprintf("its process at %s holds this one for gone", l.address)
	case failed:
		why = fmt.Sprintf("RDMA port %s does not reach its process at %s: %s", l.node.device.name, l.address, l.detail)
	case unable:
		why = fmt.Sprintf("this process cannot talk to it by RDMA port %s: %s", l.node.device.name, l.detail)
	}
	return &carrier.GoneError{Rank: rank, Why: why}
}

// isOver tells whether the peer's device has all that was sent, or the peer is gone.
func (l *link) isOver() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.fate.Load() != fine || l.wounded || l.pair == nil || len(l.waiting) == 0 && len(l.free) == sendSlots
}

// leave says goodbye, and how many frames were sent, and ends the link.
func (l *link) leave() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.up && !l.wounded {
		_ = l.say(sayBye, l.sent)
	}
	l.bury(left, "")
}
