// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/hydra/plan"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// A Guard checks and watches RDMA for the ranks of one host.
type Guard struct {
	host   plan.Host
	conn   *channel.Conn
	log    *slog.Logger
	wishes []wish

	mu   sync.Mutex
	told map[string]channel.Kind // the lines that were sent, and as which frames
}

// A wish is what the ranks of a process want of RDMA.
type wish struct {
	ib.Want
	had     bool // they had it when they started, by these ports
	certain bool // UCX's variables mean something to their program for certain
}

// A Process is a rank set that is to start.
type Process struct {
	Program int // index in the host's plan
	Ranks   int
	Env     []string
	PerRank [][]string  // further variables of each rank, by slot
	UsesUCX func() bool // whether UCX's variables mean something to its program for certain
}

// NewGuard returns a guard that tells mpiexec over conn what is wrong.
func NewGuard(host plan.Host, conn *channel.Conn, log *slog.Logger) *Guard {
	return &Guard{host: host, conn: conn, log: log, told: map[string]channel.Kind{}}
}

// Check looks whether the host can give the processes the RDMA that they ask for. If it cannot, and their ranks have no
// other way to reach each other, it returns an error. If they have another way it warns, and returns for each process the
// variables that make its ranks take that way.
func (g *Guard) Check(processes []Process) (settings [][]string, err error) {
	look := sync.OnceValues(g.look)
	judged := map[string][]string{} // most ranks want the same
	settings = make([][]string, len(processes))
	for i, p := range processes {
		for _, own := range p.PerRank {
			want := ib.ReadWant(slices.Concat(p.Env, own))
			if !want.RDMA && len(want.Bare) == 0 {
				continue
			}
			host, err := look()
			if err != nil {
				g.log.Debug("not looked at RDMA", "error", err)
				return settings, nil // UCX may see devices that we cannot see
			}
			host.InProcess = p.Ranks
			key := fmt.Sprint(p.Program, p.Ranks, want)
			if _, done := judged[key]; !done {
				if judged[key], err = g.wish(p, want, host); err != nil {
					return nil, err
				}
			}
			settings[i] = append(settings[i], judged[key]...)
		}
	}
	return settings, nil
}

// look returns what the host has before ranks run.
func (g *Guard) look() (h ib.Host, err error) {
	h = ib.Host{Open: ib.OpenVerbs, Here: g.host.Ranks, Ranks: g.host.World.Size}
	if h.Ports, err = ib.Ports(os.DirFS("/sys"), new(topology.Machine)); err == nil {
		h.Locked, err = ib.LockLimit()
	}
	return h, err
}

// wish notes what a rank wants. If the rank cannot have that but can do without it, wish returns the variables by which it
// does. A program to which UCX's variables may mean nothing is left alone: it may have ways of its own.
func (g *Guard) wish(p Process, want ib.Want, host ib.Host) (instead []string, err error) {
	trouble, certain := want.Trouble(host), p.UsesUCX()
	had := want.RDMA && (trouble == nil || trouble.Some)
	switch {
	case trouble == nil || !certain:
	case trouble.Way == "":
		return nil, g.failure(trouble)
	default:
		g.tell(channel.Warned, trouble)
		if !trouble.Some {
			return want.WithoutRDMA(), nil
		}
	}
	if had {
		want = want.Settled(host)
	}
	g.wishes = append(g.wishes, wish{want, had, certain})
	return nil, nil
}

func (g *Guard) failure(t *ib.Trouble) error { return fmt.Errorf("host %s: %s", g.host.Name, t) }

// tell sends a trouble as a frame of a kind, but not twice as the same kind, and not after it has ended the job.
func (g *Guard) tell(kind channel.Kind, t *ib.Trouble) {
	g.mu.Lock()
	defer g.mu.Unlock()
	line := g.failure(t).Error()
	if before := g.told[line]; before == kind || before == channel.Failed {
		return
	}
	g.told[line] = kind
	if kind == channel.Explained || kind == channel.Warned {
		line = t.String() // mpiexec names the hosts that say the same
	}
	g.conn.Send(kind, 0, []byte(line))
}
