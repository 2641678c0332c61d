// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"fmt"
	"strings"
	"time"
)

// A Rank is what one rank of a job does.
type Rank struct {
	Rank          int           // in its world
	Known         bool          // it has made a call that is noted
	Ended         bool          // it calls nothing any more
	Multiple      bool          // several of its threads may call MPI at the same time
	Calls         []Call        // that its threads are in; none: it is outside of MPI, or in a call that does not wait
	Quiet         time.Duration // for how long at least it has been so
	Communicators []Communicator
}

// A Call is one that a thread is in.
type Call struct {
	Function      int           // number in functions.h
	Communicator  Communicator  // with ID 0 if it is not known, or if the call has none
	Peer, Tag     int           // or one of the values below
	From, FromTag int           // of what is received by calls that send and receive
	Thread        int           // the kernel's id
	Return        uint64        // the address in the program to which the call returns
	Place         string        // what is known of that in the source: file and line, or the function; or ""
	Age           time.Duration // for how long at least the thread has been in it
	Settled       bool          // the thread had the time to go on, and did not
}

// Values of peers and tags that MPI libraries have different numbers for.
const (
	AnySource = -1
	NoProcess = -2
	Root      = -3 // MPI_ROOT
	AnyTag    = -1
)

// A Communicator is one of a rank's.
type Communicator struct {
	ID         uint64 // the same at all members
	Size, Rank int
	Name       string
}

func (c Communicator) text() string {
	switch {
	case c.ID == 0:
		return "a communicator that is not known"
	case c.Name == "":
		return fmt.Sprintf("a communicator of %d ranks", c.Size)
	case strings.HasPrefix(c.Name, "MPI_COMM_") && strings.Trim(c.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "":
		return c.Name
	}
	return fmt.Sprintf("communicator %q", c.Name)
}

// String tells a call as a program writes it, with its arguments that say for whom it waits.
func (c Call) String() string {
	f := functionOf(c.Function)
	var args []string
	add := func(format string, a ...any) { args = append(args, fmt.Sprintf(format, a...)) }
	switch f.kind {
	case waitsForSender:
		add("source %s", peerText(c.Peer))
		add("tag %s", tagText(c.Tag))
	case waitsForBoth:
		add("to %s", peerText(c.Peer))
		add("tag %s", tagText(c.Tag))
		add("source %s", peerText(c.From))
		add("tag %s", tagText(c.FromTag))
	default:
		switch {
		case f.isRooted():
			add("root %s", peerText(c.Peer))
		case f.hasPeer && f.hasComm:
			add("to %s", peerText(c.Peer))
			add("tag %s", tagText(c.Tag))
		case f.hasPeer:
			add("rank %s", peerText(c.Peer))
		}
	}
	if f.hasComm {
		add("%s", c.Communicator.text())
	}
	return "MPI_" + f.name + "(" + strings.Join(args, ", ") + ")"
}

func peerText(peer int) string {
	switch peer {
	case AnySource:
		return "any"
	case NoProcess:
		return "MPI_PROC_NULL"
	case Root:
		return "MPI_ROOT"
	}
	return fmt.Sprint(peer)
}

func tagText(tag int) string {
	if tag == AnyTag {
		return "any"
	}
	return fmt.Sprint(tag)
}
