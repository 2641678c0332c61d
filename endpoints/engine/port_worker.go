// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/tpsl/tpsl/endpoints/engine/fult"

// Attach gives the port to a worker: its threads wait on the port by switching, and
// the worker polls the port between them. Model Private, before the fabric is used.
func (p *Port) Attach(w *fult.Worker) {
	p.worker = w
	p.fabric.peers[p.rank].worker = w.Bell()
	closed := false
	before := w.Poll
	w.Poll = func() bool {
		moved := p.progress()
		moved = p.runCalls() || moved
		if !closed && p.fabric.closed.Load() {
			closed, moved = true, true
			w.SignalAll() // for those that wait for messages which will not come
		}
		return before != nil && before() || moved
	}
}

// thread returns the user-level thread that runs, nil if none does.
func (p *Port) thread() *fult.Thread {
	if p.worker == nil {
		return nil
	}
	return p.worker.Current()
}

// signals tells whether the end of this op, which is not done, is signalled to the
// thread that runs: it was that thread that posted it.
func (o *op) signals(t *fult.Thread) bool { return t != nil && o.bit == t.Bit() }
