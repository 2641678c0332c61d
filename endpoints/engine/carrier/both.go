// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// Both returns two carriers side by side: what the near one reaches goes by it, all else by
// the far one. Their ports have the same bells, and are closed with the result.
func Both(near, far Carrier) (Carrier, error) {
	first, count := near.Ranks()
	if f, c := far.Ranks(); f != first || c != count || far.Size() != near.Size() {
		return nil, fmt.Errorf("two carriers of one process: ranks %d+%d of %d, and %d+%d of %d", first, count, near.Size(), f, c, far.Size())
	}
	b := &both{Carrier: near, far: far, reaches: make([]bool, near.Size())}
	for rank := range b.reaches {
		b.reaches[rank] = near.Reaches(rank)
	}
	for rank := first; rank < first+count; rank++ {
		p := &bothPort{Port: near.Port(rank), far: far.Port(rank), reaches: b.reaches}
		if p.Bell() != p.far.Bell() {
			return nil, fmt.Errorf("two carriers of one process: rank %d has two bells", rank)
		}
		b.ports = append(b.ports, p)
	}
	return b, nil
}

// both is the near carrier but for what is said here.
type both struct {
	Carrier
	far     Carrier
	reaches []bool // by rank: the near one does
	ports   []*bothPort
	closed  atomic.Bool
}

func (b *both) Reaches(rank int) bool { return b.reaches[rank] || b.far.Reaches(rank) }

func (b *both) Port(rank int) Port {
	if first, _ := b.Ranks(); uint(rank-first) < uint(len(b.ports)) {
		return b.ports[rank-first]
	}
	return nil
}

func (b *both) Gone(rank int) error {
	if b.reaches[rank] {
		return b.Carrier.Gone(rank)
	}
	return b.far.Gone(rank)
}

// Close closes the far carrier first: it may have to wait until all that was sent has come,
// and it rings bells of the near one.
func (b *both) Close() error {
	if b.closed.Swap(true) {
		return os.ErrClosed
	}
	return errors.Join(b.far.Close(), b.Carrier.Close())
}

// A bothPort is the near port but for what is said here.
type bothPort struct {
	Port
	far     Port
	reaches []bool
	turn    uint // polls
	look    bool // into the far port, at each poll: it had something, or the port is about to sleep
}

// farEvery is at how many polls the far port is looked into, which takes a system call, while nothing
// comes by it.
const farEvery = 16

func (p *bothPort) to(rank int) Port {
	if p.reaches[rank] {
		return p.Port
	}
	return p.far
}

func (p *bothPort) Send(to int, context uint32, tag int32, buf []byte, handle uint64) (Outcome, error) {
	return p.to(to).Send(to, context, tag, buf, handle)
}

func (p *bothPort) Fetch(c *ring.Cell, dst []byte, handle uint64) (done bool, err error) {
	return p.to(int(c.Source)).Fetch(c, dst, handle)
}

func (p *bothPort) Gone(rank int) bool { return p.to(rank).Gone(rank) }

// Poll looks into both, so that neither keeps the other waiting for long.
func (p *bothPort) Poll(e *Event) bool {
	p.turn++
	due := p.turn%farEvery == 0
	return due && p.pollFar(e) || p.Port.Poll(e) || p.look && !due && p.pollFar(e)
}

func (p *bothPort) pollFar(e *Event) bool {
	p.look = p.far.Poll(e)
	return p.look
}

func (p *bothPort) Doze() (since uint32) {
	p.look = true
	return p.far.Doze()
}

func (p *bothPort) Rouse() { p.far.Rouse() }

func (p *bothPort) Sleep(since uint32, limit time.Duration) {
	p.Port.Sleep(since, limit)
	p.far.Rouse()
}
