// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"fmt"

	"github.com/tpsl/tpsl/endpoints/engine/ring"
)

// What a segment may be at most. Peers refuse others.
const (
	MaxProcesses = 1024
	MaxPorts     = 4096
	maxCells     = 1 << 16
	minPacket    = 1 << 10
	maxPacket    = 1 << 20
	maxSize      = 1 << 40
)

const (
	pageSize   = 4096
	line       = 64
	portLines  = 2  // a doorbell and the packets given back
	packetsPer = 64 // packets of a port: a bit of a word each
)

// A layout says how large the parts of a segment are, and so where each of them is.
// See the figure in docs/endpoints/shm.md.
type layout struct {
	ports, processes, cells, packet int
}

func (l layout) check() error {
	switch {
	case l.ports < 1 || l.ports > MaxPorts:
		return fmt.Errorf("%d ports: take 1 to %d", l.ports, MaxPorts)
	case l.processes < 1 || l.processes > MaxProcesses:
		return fmt.Errorf("%d processes: take 1 to %d", l.processes, MaxProcesses)
	case l.cells < 2 || l.cells > maxCells || l.cells&(l.cells-1) != 0:
		return fmt.Errorf("tracks of %d cells: take a power of two from 2 to %d", l.cells, maxCells)
	case l.packet < minPacket || l.packet > maxPacket || l.packet%line != 0:
		return fmt.Errorf("packets of %d bytes: take a multiple of %d from %d to %d", l.packet, line, minPacket, maxPacket)
	case l.size() > maxSize:
		return fmt.Errorf("a segment of %d bytes: take fewer or smaller packets, or shorter tracks", l.size())
	}
	return nil
}

// bell is the offset of a port's doorbell; the line behind it is for its packets.
func (l layout) bell(port int) int { return pageSize + port*portLines*line }

func (l layout) returned(port int) int { return l.bell(port) + line }

// track is the offset of the ring from a process to a port.
func (l layout) track(port, process int) int {
	return l.bell(l.ports) + (port*l.processes+process)*ring.Size(l.cells)
}

// slab is the offset of a port's packets. They begin on a page.
func (l layout) slab(port int) int {
	tracks := l.track(l.ports, 0)
	return (tracks+pageSize-1)/pageSize*pageSize + port*packetsPer*l.packet
}

func (l layout) size() int { return (l.slab(l.ports) + pageSize - 1) / pageSize * pageSize }
