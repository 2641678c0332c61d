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
	for {
		i := p.matcher.Probe(e)
		if i == match.None {
			return Status{}, false
		}
		a := p.ops.at(i)
		if c := &a.cell; p.take(c) {
			p.untake(c)
			return Status{Envelope{Context: c.Context, Peer: c.Source, Tag: c.Tag}, lengthOf(c)}, true
		}
		p.matcher.Cancel(i)
		p.ops.put(a)
	}
}
