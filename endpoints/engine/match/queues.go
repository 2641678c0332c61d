// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

// Queues is the textbook's matcher: posted receives and unexpected messages, each a
// queue that every search walks from its head. It is for one thread at a time.
type Queues struct {
	nodes                *Nodes
	receives, unexpected list
}

// NewQueues makes empty queues.
func NewQueues(nodes *Nodes) *Queues { return &Queues{nodes: nodes} }

// Post hands in a receive, as Table's does.
func (q *Queues) Post(i uint32) uint32 {
	n := q.nodes.At(i)
	partner := q.unexpected.fits(q.nodes, n.Envelope)
	if partner != None {
		q.unexpected.remove(q.nodes, partner)
		return partner
	}
	n.where = listed
	q.receives.push(q.nodes, i)
	return None
}

// Arrive hands in a message, as Table's does.
func (q *Queues) Arrive(i uint32) uint32 {
	n := q.nodes.At(i)
	partner := q.receives.taker(q.nodes, n.Envelope)
	if partner != None {
		q.receives.remove(q.nodes, partner)
		return partner
	}
	n.where = arrived
	q.unexpected.push(q.nodes, i)
	return None
}

// Probe finds a message, as Table's does.
func (q *Queues) Probe(e Envelope, stays func(i uint32) bool) (i uint32, out bool) {
	if i = q.unexpected.fits(q.nodes, e); i == None || stays == nil || stays(i) {
		return i, false
	}
	q.unexpected.remove(q.nodes, i)
	return i, true
}

// TakeReceives takes receives out, as Table's does.
func (q *Queues) TakeReceives(first, end int32, taken func(i uint32)) {
	q.receives.take(q.nodes, first, end, taken)
}

// Cancel takes node i out again, and tells whether it was still there.
func (q *Queues) Cancel(i uint32) bool {
	switch q.nodes.At(i).where {
	case listed:
		q.receives.remove(q.nodes, i)
	case arrived:
		q.unexpected.remove(q.nodes, i)
	default:
		return false
	}
	return true
}
