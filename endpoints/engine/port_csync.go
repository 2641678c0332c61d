// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// Model CSync: the queue of the lock is the list of operations. A thread that posts
// waits until its op is executed, by itself or by the owner before it.

// combine posts an op.
func (p *Port) combine(o *op) {
	s := p.ops.seat(o.index)
	if p.csync.Do(s.entry, o) {
		p.execute(o)
		p.executeFrom(s)
	}
}

// executeFrom executes the ops that queue behind a seat and gives up the lock.
func (p *Port) executeFrom(s *seat) {
	for e := p.csync.Next(s.entry); e != nil; e = p.csync.Next(e) {
		p.execute(e.Item)
	}
}
