// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package rdma

import (
	"math"
	"os"

	"github.com/tpsl/tpsl/hydra/channel"
	"github.com/tpsl/tpsl/ib"
	"github.com/tpsl/tpsl/internal/topology"
)

// Explain says, when ranks have failed, what is wrong with the ports that they wanted.
func (g *Guard) Explain() {
	if len(g.wishes) == 0 {
		return
	}
	if trouble := g.explanation(); trouble != nil {
		g.tell(channel.Explained, trouble)
	}
}

func (g *Guard) explanation() *ib.Trouble {
	for _, w := range g.wishes {
		for _, port := range w.Ports {
			if seen := (sighting{port, stateOfPort(port)}); w.had && !seen.isFine() {
				return lost(seen)
			}
		}
	}
	ports, err := ib.Ports(os.DirFS("/sys"), new(topology.Machine))
	if err != nil {
		return nil
	}
	for _, w := range g.wishes {
		if trouble := w.Failed(g.hostOf(ports)); trouble != nil && !w.had {
			return trouble
		}
	}
	return nil
}

// lost describes the trouble of ranks with a port. It says less if the ports cannot be listed.
func lost(s sighting) *ib.Trouble {
	ports, _ := ib.Ports(os.DirFS("/sys"), new(topology.Machine))
	return ib.Lost(s.port, s.state, ports)
}

// hostOf describes the host while ranks run, with these ports.
func (g *Guard) hostOf(ports []ib.NIC) ib.Host {
	return ib.Host{Ports: ports, Locked: math.MaxUint64, Here: g.host.Ranks, Ranks: g.host.World.Size}
}
