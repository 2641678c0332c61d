// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"fmt"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/wire"
	"github.com/tpsl/tpsl/pmi"
)

// A growth makes a proxy a relay. The relay starts the proxies below it, and one more proxy for its own host.
type growth struct {
	Options Options
	Branch  Branch
	Size    int // of the world
}

func (g growth) frame() channel.Frame {
	return channel.Frame{Kind: channel.Grow, Proxy: g.Branch.Host.ID, Body: wire.Encode(g)}
}

// A relay connects the process that started it with the proxies that it starts. It passes each frame on to or from the proxy that
// the frame names. It enters a barrier once for all proxies below.
type relay struct {
	id       int
	up       *channel.Trunk
	children *Children
	ways     map[int]*Child // by proxy
	gather   *pmi.Gather
	running  sync.WaitGroup // children
	entered  pmi.Entered    // barriers, above
}

// Relay runs a relay as a Grow frame asks for, until the trunk above or every child has ended. It returns the branch that it has run.
func Relay(up *channel.Trunk, secret Secret, frame channel.Frame) (Branch, error) {
	var g growth
	if err := frame.Value(&g); err != nil {
		return Branch{}, fmt.Errorf("read branch: %w", err)
	}
	launcher, err := New(g.Options)
	if err != nil {
		return Branch{}, err
	}
	r := &relay{id: g.Branch.Host.ID, up: up, ways: map[int]*Child{}}
	r.children = NewChildren(launcher, secret, g.Options, r)
	own := r.children.add(g.Branch.Host, []int{r.id}, new(Fork))
	r.ways[r.id] = own
	all := []*Child{own}
	for _, branch := range g.Branch.Below {
		child := r.children.Add(branch, g.Size)
		all = append(all, child)
		for _, id := range branch.IDs() {
			r.ways[id] = child
		}
	}
	r.gather = pmi.NewGather(g.Size, slices.Sorted(slices.Values(g.Branch.ranks())), r)
	for _, child := range all {
		r.running.Add(1)
		child.Start()
	}
	go r.receive()
	r.running.Wait()
	return g.Branch, nil
}

// receive passes on what comes from above. When the trunk ends, all proxies below end.
func (r *relay) receive() {
	for {
		frame, err := r.up.Receive()
		if err != nil {
			break
		}
		switch way := r.ways[frame.Proxy]; {
		case frame.Kind == channel.BarrierOut && frame.Proxy == r.id:
			r.entered.Left(frame.Body)()
		case way != nil:
			way.Trunk.Put(frame)
		}
		if frame.Kind == channel.Kill {
			r.children.Abandon()
		}
	}
	r.children.Stop()
}

// Frame implements Events.
func (r *relay) Frame(_ *Child, frame channel.Frame) {
	if frame.Kind != channel.BarrierIn {
		r.up.Put(frame)
		return
	}
	arrival, err := pmi.ParseArrival(frame.Body)
	if err != nil {
		r.up.Put(frame) // mpiexec reports the error
		return
	}
	conn := r.ways[frame.Proxy].Trunk.Conn(frame.Proxy)
	r.gather.Enter(arrival, func(union []pmi.Entry, err error) {
		if err == nil {
			conn.Send(channel.BarrierOut, 0, pmi.Arrival{Barrier: arrival.Barrier, Count: arrival.Count, Puts: union}.Append(nil))
		}
	})
}

// Lost implements Events.
func (r *relay) Lost(child *Child, loss channel.Loss) {
	r.up.Conn(child.Host.ID).SendValue(channel.Lost, loss)
	r.running.Done()
}

// Enter implements pmi.Exchanger: it takes a barrier to the process above.
func (r *relay) Enter(a pmi.Arrival, leave pmi.Leave) {
	if r.entered.Add(a.Barrier, leave) {
		r.up.Conn(r.id).Send(channel.BarrierIn, 0, a.Append(nil))
	}
}
