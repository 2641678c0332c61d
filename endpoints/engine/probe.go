// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/tpsl/tpsl/endpoints/engine/match"

// Iprobe tells whether a message is here that a receive with this envelope would take,
// and which. It stays.
func (p *Port) Iprobe(e Envelope) (Status, bool, error) {
	err := p.check(e, true)
	if err == nil && p.fabric.options.Unique {
		err = errUnique // a large message does not come before its receive
	}
	if err != nil {
		return Status{}, false, err
	}
	o := p.enter()
	p.progress()
	s, found := p.look(e)
	if !found && p.isGone(e.Peer) {
		err = p.fabric.options.Carrier.Gone(int(e.Peer))
	}
	p.leave(o)
	p.runCalls()
	return s, found, err
}

// Probe waits until there is such a message.
func (p *Port) Probe(e Envelope) (Status, error) {
	var w waiter
	for {
		s, found, err := p.Iprobe(e)
		if found || err != nil {
			return s, err
		}
		p.idle(&w)
	}
}

// look finds an unexpected message, and drops those whose sender has cancelled them.
// It is of the inner half.
func (p *Port) look(e Envelope) (Status, bool) {
	var s Status
	stays := func(i uint32) bool {
		c := &p.ops.at(i).cell
		if !p.take(c) {
			return false
		}
		p.untake(c)
		s = Status{Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}, lengthOf(c)}
		return true
	}
	for {
		i, out := p.matcher.Probe(e, stays)
		if !out {
			return s, i != match.None
		}
		p.ops.put(p.ops.at(i))
	}
}
