// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "fmt"

// With Options.Help a thread that waits makes progress on the other ports of its process, too. Their
// owners may compute meanwhile: messages to them arrive nevertheless, and their handlers run, on the thread that
// helps. A thread helps only where nobody else has the inner half, and never waits for that.

// helpEvery is how many vain polls a thread makes between two looks at another port, while it does not sleep.
const helpEvery = 16

// checkHelp refuses models in which threads do not take the inner half, or cannot without waiting.
func (o *Options) checkHelp() error {
	switch o.Model {
	case Global, PerVNI, CSync, LockQ, Concurrent:
		return nil
	}
	return fmt.Errorf("fabric of model %s: Help needs one in which any thread may try for a port: %s, %s, %s, %s or %s", o.Model, Global, PerVNI, CSync, LockQ, Concurrent)
}

// help makes progress on another port, a further one each time, and tells whether there was any.
func (p *Port) help(w *waiter) bool {
	f := p.fabric
	if !f.options.Help || f.options.Ports == 1 || w.polls%helpEvery != 0 && !w.sleeps(f) {
		return false
	}
	w.helped = (w.helped + 1) % (f.options.Ports - 1)
	other := int(p.rank) - f.first + 1 + w.helped
	return f.peers[f.first+other%f.options.Ports].port.beHelped()
}

// beHelped makes progress for a thread that is none of the port's.
func (p *Port) beHelped() bool {
	o := p.ops.get()
	s := p.ops.seat(o.index)
	moved := false
	if p.try(s, 0) {
		moved = p.progress()
		p.disown(s, 0)
	}
	p.ops.put(o)
	return p.runCalls() || moved
}
