// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine/fult"
	"github.com/tpsl/tpsl/endpoints/engine/locks"
	"github.com/tpsl/tpsl/endpoints/engine/match"
	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// kind is what an op is.
type kind uint8

const (
	opSend kind = iota
	opReceive
	opArrival // what came and waits in a matcher
	opSpent   // what came and has been used
	opCall    // an active message that came and waits for its handler
	opAsk     // an access of another process's region
	opAnswer  // what that process says of it
	opComing  // a put whose data are to come from another process
	opEnded   // a send or receive that has ended, whatever its word says: see end
)

// The states of an op, the low bits of its word.
const (
	pending = iota // posted, or free
	taken          // for a moment, while somebody finds out whether it is matched
	matched        // its message is on the way: too late to cancel
	done           // its outcome stands; the caller has yet to ask

	stateBits = 2
)

// An op is one operation, or one unexpected message, of a port: four cache
// lines, and the node of the same index for matching, which has the envelope. Only
// the thread that runs the port's inner half touches a pending op, but for its word: a
// peer that has matched a send in the same address space takes it, copies from its
// buffer and completes it. In model Concurrent, so does a thread of the port with a
// receive that it has matched.
type op struct {
	// First line: its life.
	word    atomic.Uint64 // turn<<stateBits | state
	turn    uint64        // how often the op was used: a handle of another turn is stale
	next    *op           // in the one list that it is in: free ops, a lane, what has ended
	port    *Port
	match   *match.Node
	bytes   int // what came: into the buffer, from where, under which tag
	source  int32
	tag     int32
	index   uint32
	kind    kind
	outcome outcome
	ready   bool // of a receive: its cellReady has gone, or waits in a lane
	notify  bool // its end goes into a completion

	// Second line: the buffer, and who is to be woken.
	buf []byte
	bit fult.Bit

	// Third line: an unexpected message, as it came; the head of an ask or an answer.
	cell ring.Cell

	// Fourth line: the copy in progress of a large one; of a free op, the one below.
	share      share
	below      atomic.Uint32 // its index, in a pool that threads share; of an op with a completion: how many use it
	missing    uint8         // of an ask or an answer: what has to happen until it is over
	stage      stage         // of it: how far it is
	shared     bool          // share is in use, of an op that is matched
	_          [1]byte
	region     *Region    // that an access of another process uses
	completion Completion // where its end goes
}

func wordOf(turn, state uint64) uint64 { return turn<<stateBits | state }

func (o *op) is(state uint64) bool { return o.word.Load() == wordOf(o.turn, state) }

// node returns what matching sees of the op.
func (o *op) node() *match.Node { return o.match }

// begin makes a taken op pending. In models whose threads share the port it is so already: see pool.put.
func (o *op) begin() {
	if o.port.model == Private {
		o.word.Store(wordOf(o.turn, pending))
	}
}

// end ends a send or receive of which no peer knows, on its port's thread. In model Private nobody else asks after it
// then: a store of the word, which would wait until other processors have seen the stores before it, is spared.
func (o *op) end(how outcome) {
	if o.port.model != Private || o.ready || o.notify {
		o.complete(how)
		return
	}
	o.outcome, o.kind = how, opEnded
	if o.bit.Valid() {
		o.bit.Set()
	}
}

// ended tells whether an op has ended, which is of the caller's turn.
func (o *op) ended() bool { return o.port.model == Private && o.kind == opEnded || o.is(done) }

// complete ends an op, whose fields say already what came. The signal comes after
// the word that it is about.
func (o *op) complete(how outcome) {
	bit, notify := o.bit, o.notify
	o.outcome = how
	o.word.Store(wordOf(o.turn, done))
	if bit.Valid() {
		bit.Set()
	}
	if notify { // nobody has a request: the op stays until its port takes it
		o.port.ends.push(o)
	}
}

// take wins a pending op of this turn for the caller, against a cancel and against
// its being another operation by now. It waits for whoever has taken it for a moment.
func (o *op) take(turn uint64) bool {
	for s := (locks.Spin{}); ; {
		switch o.word.Load() {
		case wordOf(turn, pending):
			if o.word.CompareAndSwap(wordOf(turn, pending), wordOf(turn, taken)) {
				return true
			}
		case wordOf(turn, taken):
			s.Pause()
		default:
			return false // matched or done; or over by now, and another operation
		}
	}
}

// decide ends what take began: the op is matched, or pending again.
func (o *op) decide(turn, state uint64) { o.word.Store(wordOf(turn, state)) }

// underWay makes the op matched, and nothing that two sides copy.
func (o *op) underWay() {
	o.shared = false
	o.decide(o.turn, matched)
}
