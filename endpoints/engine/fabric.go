// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/packet"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Model says how many threads may use one port at once, and who then runs its inner
// half (see port_model.go).
type Model uint8

// The models.
const (
	Private    Model = iota // one thread at a time, which the caller sees to
	Global                  // any number, as all that follow; one lock around every call
	PerVNI                  // one lock for the inner half; who asks whether an op is done does not wait for it
	Offload                 // one more thread for each port, which does everything
	HMCS                    // one lock that stays among near threads; one waiting thread polls for all
	CSync                   // who has the lock does the posted ops of those that wait for it
	LockQ                   // who finds the lock taken leaves its op and goes; who has it does those left
	Concurrent              // threads post and match side by side; one lock for what comes in
)

// Options describe a fabric. The zero value of each but Ports is its default.
type Options struct {
	Ports   int        // how many
	Model   Model      // threads per port
	Matcher match.Kind // the hash table, or the two queues
	Ring    int        // cells of each port's inbox, a power of two; 256
	Eager   int        // a message up to this size is buffered; 8 KiB; -1: none but what fits into a cell
	Halves  int        // a message from this size on is copied by both sides at once; 2 MiB; -1: none
	Unique  bool       // the caller's promise, below
	Help    bool       // threads that wait make progress on the other ports of their process, too
	Packets int        // buffers of size Eager that the ports share; 64 and 4 a port, at most 512

	// Handlers are what active messages run, each by its index: see Invoke. All processes of a
	// fabric have the same ones, in the same order.
	Handlers []Handler

	// Carrier leads to the other processes that the fabric spans. It says how many
	// ports are here, and under which numbers. nil: this process alone.
	Carrier carrier.Carrier
}

// Unique promises, of the whole fabric, that there are no wildcards and no probes, that
// two messages from one port to another are never under way with one envelope at once,
// and that a message above Eager is received into a buffer above Eager. Then a large
// message takes one control cell, from the receiver, and is copied by its sender.

// maxEager is the longest message that a cell can say the length of.
const maxEager = math.MaxUint32

// defaults fills in what was left zero.
func (o *Options) defaults() {
	set := func(option *int, value int) {
		if *option == 0 {
			*option = value
		}
	}
	set(&o.Ring, 256)
	set(&o.Eager, 8<<10)
	set(&o.Halves, 2*chunk)
	if o.Halves < 0 {
		o.Halves = math.MaxInt
	}
	set(&o.Packets, min(64+4*o.Ports, 512))
}

func (o *Options) check() error {
	switch {
	case o.Ports < 1 || o.Ports > math.MaxInt32:
		return fmt.Errorf("fabric of %d ports: take 1 to %d", o.Ports, math.MaxInt32)
	case int(o.Model) >= len(modelNames):
		return fmt.Errorf("fabric: there is no model %d", uint8(o.Model))
	case int(o.Matcher) >= len(match.Kinds):
		return fmt.Errorf("fabric: there is no matcher %d", uint8(o.Matcher))
	case o.Eager > maxEager:
		return fmt.Errorf("fabric: Eager of %d bytes: at most %d", o.Eager, maxEager)
	case o.Help:
		return o.checkHelp()
	}
	return nil
}

// A Fabric is a set of ports that reach one another.
type Fabric struct {
	options Options
	peers   []peer // by rank
	first   int    // the first rank of this process; it has options.Ports
	packets *packet.Pool
	ops     slab[op]
	seats   slab[seat]
	spins   int // polls of a waiting thread before it yields
	closed  atomic.Bool
	threads sync.WaitGroup // model Offload

	helped atomic.Uint64 // copies to which the thread of the other side has added chunks, for tests
}

// A peer is how a port reaches another: the ring to put cells into, and the port
// itself. Both are nil if its memory, and so that of its operations, is another process's.
type peer struct {
	inbox *ring.Ring
	port  *Port
	bell  *carrier.Bell // of a port that sleeps in the kernel; nil: none does

	worker *fult.Bell // of the worker that polls the port; nil: none does
}

// New makes a fabric within this process, or this process's part of one.
func New(o Options) (*Fabric, error) {
	first, size, near := 0, o.Ports, o.Ports
	if c := o.Carrier; c != nil {
		if o.Ports != 0 {
			return nil, fmt.Errorf("fabric of %d ports: leave out how many where there is a carrier, which knows", o.Ports)
		}
		first, o.Ports = c.Ranks()
		size, near = c.Size(), c.Near()
		for rank := range size {
			if (rank < first || rank >= first+o.Ports) && !c.Reaches(rank) {
				return nil, fmt.Errorf("fabric of ranks 0 to %d: its carrier does not reach rank %d", size-1, rank)
			}
		}
	}
	o.defaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	packets, err := packet.New(packet.Options{Workers: o.Ports, Packets: o.Packets, Size: max(o.Eager, 1)})
	if err != nil {
		return nil, fmt.Errorf("fabric: %w", err)
	}
	f := &Fabric{packets: packets, options: o, first: first, peers: make([]peer, size)}
	f.spins = longSpin
	if o.Model != Private || near > runtime.GOMAXPROCS(0) {
		f.spins = shortSpin
	}
	for rank := first; rank < first+o.Ports; rank++ {
		inbox, err := ring.New(o.Ring)
		if err != nil {
			return nil, fmt.Errorf("fabric: inbox: %w", err)
		}
		f.peers[rank] = peer{inbox: inbox, port: newPort(f, rank, inbox)}
		if far := f.peers[rank].port.far; far != nil {
			f.peers[rank].bell = far.port.Bell()
		}
	}
	if o.Model == Offload {
		for rank := first; rank < first+o.Ports; rank++ {
			f.threads.Go(f.peers[rank].port.serve)
		}
	}
	return f, nil
}

// Size returns the number of ports.
func (f *Fabric) Size() int { return len(f.peers) }

// Port returns the port with this number, nil if it is another process's. It panics for a number that is not from 0 to Size()-1.
func (f *Fabric) Port(rank int) *Port { return f.peers[rank].port }

// Close ends the fabric: what waits returns ErrClosed, and so does every call after.
// What was posted before is executed, though nobody may ever ask after it. A carrier is the
// caller's to close, when no thread is in a call of the fabric any more.
func (f *Fabric) Close() error {
	if f.closed.Swap(true) {
		return ErrClosed
	}
	f.threads.Wait()
	for i := range f.peers {
		if p := f.peers[i].port; p != nil && f.leaves() {
			p.leave(p.enter())
		}
		f.peers[i].wake()
	}
	return nil
}

// leaves tells whether ops may be in the queues of ports.
func (f *Fabric) leaves() bool { return f.options.Model == LockQ || f.options.Model == Offload }
