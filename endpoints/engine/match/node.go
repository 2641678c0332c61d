// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// Wildcards of a receive.
const (
	AnySource = -1
	AnyTag    = -1
)

// An Envelope is what matching goes by. Peer is the source, of a receive too.
type Envelope struct {
	Context   uint32
	Peer, Tag int32
}

// Wild tells whether a receive's envelope has a wildcard.
func (e Envelope) Wild() bool { return e.Peer == AnySource || e.Tag == AnyTag }

// Takes tells whether a receive with envelope e takes a message with envelope m.
func (e Envelope) Takes(m Envelope) bool {
	return e.Context == m.Context && (e.Peer == m.Peer || e.Peer == AnySource) &&
		(e.Tag == m.Tag || e.Tag == AnyTag)
}

// What stands in place of a node's index.
const (
	None uint32 = 0         // nobody: the node waits
	full uint32 = 1<<31 - 1 // nobody, and no room for the node
)

// A Node is a message or a receive: one cache line. Its owner fills the exported
// fields before it hands the node in, and keeps off until it is out again.
type Node struct {
	Envelope
	where uint32
	// Number orders the messages. Those of one source must have rising numbers,
	// in the order sent. Of a receive it is the matcher's own.
	Number uint64
	Value  uint64 // the owner's own

	next, prev    uint32 // neighbours among equal envelopes
	last          uint32 // of the first among equals: the last of them
	after, before uint32 // neighbours in one of the lists
	_             [12]byte
}

// Where a node is.
const (
	out     = iota
	keyed   // in the table
	listed  // in a queue of receives
	arrived // in a queue of messages
)
