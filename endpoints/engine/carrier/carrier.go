// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// A Carrier is what one process has of what spans several.
type Carrier interface {
	// Size returns how many ranks all processes have together.
	Size() int
	// Ranks returns the ranks of this process: the first, and how many.
	Ranks() (first, count int)
	// Near returns how many ranks share this host's processors, as far as the carrier knows:
	// at least those of this process.
	Near() int
	// Reaches tells whether a rank of another process can be sent to.
	Reaches(rank int) bool
	// Port returns the port of a rank of this process, nil for any other.
	Port(rank int) Port
	// Gone returns nil, or for a rank whose process is gone a GoneError.
	Gone(rank int) error
	// Close leaves: to its peers this process is gone.
	//
	// Preconditions: nobody uses a port, now or later.
	Close() error
}

// A Port is one rank's way to ranks of other processes.
type Port interface {
	// Send sends to a rank of another process. The handle comes back with Sent, if the
	// outcome is Pending.
	Send(to int, context uint32, tag int32, buf []byte, handle uint64) (Outcome, error)
	// Poll finds what has happened, one thing at a time, and moves on what is under way. It never waits.
	Poll(e *Event) bool
	// Fetch takes a message that has arrived into dst, as far as that has room. If it is done,
	// all is there, unless the sender is gone, which is the error; else the buffer belongs to
	// the port until Poll returns Received with the handle.
	Fetch(c *ring.Cell, dst []byte, handle uint64) (done bool, err error)
	// Gone tells whether Poll has said that a rank is gone.
	Gone(rank int) bool

	// Bell returns the bell by which the port is woken.
	Bell() *Bell
	// Doze announces that the port is about to sleep. Its caller looks once more for whatever it
	// waits for, be it by Poll or elsewhere, then calls Sleep or Rouse.
	Doze() (since uint32)
	// Rouse takes Doze back.
	Rouse()
	// Sleep sleeps until there is something for Poll, or somebody rang the bell, since Doze; or
	// for the limit, if it is not 0. It may return early.
	Sleep(since uint32, limit time.Duration)
}

// An Outcome says what became of a Send.
type Outcome int

// The outcomes.
const (
	Full    Outcome = iota // nothing was sent: there is no room now; try again after Poll
	Done                   // the buffer may be used again
	Pending                // the buffer must stay as it is until Poll returns Sent
)

// A Kind says what Poll found.
type Kind uint32

// The kinds.
const (
	Arrived  Kind = iota + 1 // a message: Fetch takes what Cell stands for
	Sent                     // a Pending Send is over; its buffer may be used again
	Received                 // a Fetch that was not done is over
	Gone                     // the ranks First to First+Ranks-1 are gone, and no message of theirs is to come
)

// An Event is what Poll found. The Cell may be kept, field by field, until Fetch
// takes it; until then it may keep a buffer of the carrier's busy.
type Event struct {
	Kind         Kind
	Lost         bool   // Sent, Received: in vain, since the peer is gone
	Handle       uint64 // Sent, Received: from Send or Fetch
	First, Ranks int    // Gone
	Cell         ring.Cell
}
