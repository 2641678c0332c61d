// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
)

// The model is MPI's rules as two lists for each port: receives in the order posted,
// messages in the order they came, both without any hurry.

// A modelOp is what the model knows of one operation.
type modelOp struct {
	e         Envelope // of a receive as posted; of a message with its source
	length    int      // of the message, or of the buffer
	id        byte     // of the message: the seed of its pattern
	buffered  bool     // a send that is done at once
	partner   *modelOp
	cancelled bool
	ended     bool
}

// A modelPort is a port of the model.
type modelPort struct{ receives, messages []*modelOp }

// pick takes the first of a list that fits, or nil.
func pick(list *[]*modelOp, fits func(*modelOp) bool) *modelOp {
	i := slices.IndexFunc(*list, fits)
	if i < 0 {
		return nil
	}
	o := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return o
}

// arrive is a message that comes.
func (p *modelPort) arrive(m *modelOp) {
	m.ended = m.buffered
	if r := pick(&p.receives, func(r *modelOp) bool { return r.e.Takes(m.e) }); r != nil {
		meet(r, m)
	} else {
		p.messages = append(p.messages, m)
	}
}

// post is a receive that is posted.
func (p *modelPort) post(r *modelOp) {
	if m := pick(&p.messages, func(m *modelOp) bool { return r.e.Takes(m.e) }); m != nil {
		meet(r, m)
	} else {
		p.receives = append(p.receives, r)
	}
}

func meet(r, m *modelOp) {
	r.partner, m.partner = m, r
	r.ended, m.ended = true, true
}

// probe returns the message that a receive would take, or nil.
func (p *modelPort) probe(e Envelope) *modelOp {
	i := slices.IndexFunc(p.messages, func(m *modelOp) bool { return e.Takes(m.e) })
	if i < 0 {
		return nil
	}
	return p.messages[i]
}

// cancel ends an operation that is not done.
func (p *modelPort) cancel(o *modelOp) {
	if o.ended {
		return
	}
	o.ended, o.cancelled = true, true
	same := func(other *modelOp) bool { return other == o }
	p.receives = slices.DeleteFunc(p.receives, same)
	p.messages = slices.DeleteFunc(p.messages, same)
}

// end returns how a receive ends.
func (o *modelOp) end() (Status, error) {
	if o.cancelled {
		return Status{}, ErrCancelled
	}
	s := Status{Envelope: o.partner.e, Bytes: min(o.length, o.partner.length)}
	if o.partner.length > o.length {
		return s, ErrTruncated
	}
	return s, nil
}

func sameError(a, b error) bool { return errors.Is(a, b) && errors.Is(b, a) }
