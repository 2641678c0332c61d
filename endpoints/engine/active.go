// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
)

// An active message names a handler where a tagged one has a tag. It travels as a send does, in
// every way that there is, under a tag below AnyTag.

// A Handler is run on the port that an active message was sent to. Of the envelope, Peer is
// the port that sent it, Tag the handler's index, and Context what the sender had there. The data
// are only to be read, and are valid until the handler returns.
//
// A port runs its handlers one at a time, on threads that call it (in model Offload on its own
// thread, with Options.Help also on those that wait on other ports), while that makes progress. A handler may start operations, on any port, and ask after
// them by Test. It must not wait for one, nor for another handler: nothing may move meanwhile.
//
// A handler that panics ends its thread's call with a panic that names handler and sender.
type Handler func(p *Port, e Envelope, data []byte)

// MaxInvoke is the most bytes of an active message; Put takes any number.
const MaxInvoke = 1 << 20

// isActive tells whether a tag is that of an active message, and not of a message that a receive
// may take, or a wildcard.
func isActive(tag int32) bool { return tag < AnyTag }

// The tag that stands for a handler, and back.
func tagOf(handler int32) int32 { return AnyTag - 1 - handler }
func handlerOf(tag int32) int32 { return AnyTag - 1 - tag }

// Invoke starts to send data to the handler e.Tag of port e.Peer. The request is done when data
// may be used again, not when the handler has run; it may be done already, and then be the zero one.
//
// Active messages from one port to another run their handlers in the order sent. When a
// handler runs, all tagged messages that the same port sent earlier have arrived: a probe finds
// them, or a receive has matched them. Those sent later may have come, too.
func (p *Port) Invoke(data []byte, e Envelope) (Request, error) {
	if err := p.checkInvoke(data, e); err != nil {
		return Request{}, err
	}
	e.Tag = tagOf(e.Tag)
	if p.isShort(data) && p.sendShort(data, &e) {
		return Request{}, nil
	}
	return p.launch(p.prepare(opSend, data, &e), &e), nil
}

// checkInvoke tells what is wrong with an active message.
func (p *Port) checkInvoke(data []byte, e Envelope) error {
	if err := p.checkHandler(e); err != nil {
		return err
	}
	if len(data) > MaxInvoke {
		return fmt.Errorf("port %d: %d bytes for handler %d: an active message has at most %d; put them and signal", p.rank, len(data), e.Tag, MaxInvoke)
	}
	return nil
}

// checkHandler tells what is wrong with an active message's envelope.
func (p *Port) checkHandler(e Envelope) error {
	if err := p.check(e, false); err != nil {
		return err
	}
	if !p.hasHandler(e.Tag) {
		return fmt.Errorf("port %d: there is no handler %d: Options.Handlers has %d", p.rank, e.Tag, len(p.fabric.options.Handlers))
	}
	return nil
}

// maxHandler bounds the tags that stand for handlers.
const maxHandler = math.MaxInt32 / 2

func isHandler(n uint64) bool { return n <= maxHandler }

func (p *Port) hasHandler(i int32) bool {
	handlers := p.fabric.options.Handlers
	return int(i) < len(handlers) && handlers[i] != nil
}

// Progress handles what has come, runs handlers, and sends what waited for room. It tells whether there
// was anything. Calls that wait do the same by themselves.
func (p *Port) Progress() bool {
	o := p.enter()
	moved := p.progress()
	p.leave(o)
	return p.runCalls() || moved
}

// Await makes progress until is returns true. It asks that between its steps, on the calling
// thread; handlers may run on other threads of the port.
func (p *Port) Await(is func() bool) error {
	for w := (waiter{}); !is(); {
		if p.fabric.closed.Load() {
			return ErrClosed
		}
		if p.Progress() {
			w.reset()
		} else {
			p.idle(&w)
		}
	}
	return nil
}
