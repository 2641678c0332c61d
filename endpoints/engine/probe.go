// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/tpsl/tpsl/endpoints/engine/match"

// Iprobe tells whether a message is here that a receive with this envelope would take,
// and which. It stays.
func (p *Port) Iprobe(e Envelope) (Status, bool, error) {
	if err := p.check(e, true); err != nil {
		return Status{}, false, err
	}
	if p.fabric.options.Unique {
		return Status{}, false, errUnique // a large message does not come before its receive
	}
	o := p.enter()
	p.progress()
	s, found := p.look(e)
	p.leave(o)
	return s, found, nil
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
