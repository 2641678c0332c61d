// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/tpsl/tpsl/endpoints/engine/match"
)

// Model Concurrent: a thread that posts matches its receive, or puts its message into the inbox of its peer, while others
// do the same and another owns the inner half, which then is no more than what comes in, sends that find no room, and
// all that has to do with a carrier. The order of one peer's messages is that of its cells, for one thread at a time
// takes those out; the order of receives with one envelope is that of the table.
//
// The table is what lets threads match side by side: over two queues, or where envelopes are unique, which takes a
// second matcher, posting takes the lock.

// runBeside runs a posted op, with the inner half only if it must.
func (p *Port) runBeside(o *op) {
	if p.beside {
		switch {
		case o.kind == opReceive:
			p.receiveBeside(o)
			return
		case o.kind == opSend && p.fabric.peers[o.source].port != nil && !p.full.Load() && p.put(o):
			return
		}
	}
	p.lock.Acquire()
	p.execute(o)
	p.lock.Release()
}

// receiveBeside is receive for threads that do not own the inner half. Once a receive waits, it may be over at any time,
// and its op another operation.
func (p *Port) receiveBeside(o *op) {
	turn, source := o.turn, o.source
	for {
		i := p.matcher.Post(o.index)
		if i == match.None {
			p.forsakeBeside(o, turn, source)
			return
		}
		a := p.ops.at(i)
		took := p.take(&a.cell)
		if took && a.cell.Kind < cellLast { // no carrier is to hear of it
			p.deliver(o, &a.cell)
		} else if took {
			p.lock.Acquire()
			p.deliver(o, &a.cell)
			p.lock.Release()
		}
		p.ops.put(a)
		if took {
			return
		}
	}
}

// forsakeBeside ends a posted receive, if it still waits, whose source is another process's and gone. Either the owner of the
// inner half notes the loss before this looks, or it finds the receive in the table: see forsakeAll.
func (p *Port) forsakeBeside(o *op, turn uint64, source int32) {
	if !p.lost.Load() || source == AnySource || p.fabric.peers[source].port != nil {
		return
	}
	p.lock.Acquire()
	if o.word.Load() == wordOf(turn, pending) {
		p.forsake(o)
	}
	p.lock.Release()
}
