// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// own makes the calling thread the owner of the inner half, by a seat that is at
// rest; a port of HMCS is told which domain the thread is in.
func (p *Port) own(s *seat, domain int) {
	switch p.model {
	case HMCS:
		p.hmcs.Acquire(&s.node, domain)
	case CSync:
		p.csync.Acquire(&s.node, s.entry)
	default:
		p.lock.Acquire()
		p.drain()
	}
}

// try is own if that takes no waiting. HMCS waits: a Test there is as good as a post.
func (p *Port) try(s *seat, domain int) bool {
	switch p.model {
	case HMCS:
		p.hmcs.Acquire(&s.node, domain)
		return true
	case CSync:
		return p.csync.Try(&s.node, s.entry)
	default:
		if !p.lock.Try() {
			return false
		}
		p.drain()
		return true
	}
}

// disown gives the inner half up.
func (p *Port) disown(s *seat, domain int) {
	switch p.model {
	case HMCS:
		p.hmcs.Release(&s.node, domain)
	case CSync:
		p.executeFrom(s)
		p.csync.Release(&s.node)
	default:
		p.lock.Release()
	}
}
