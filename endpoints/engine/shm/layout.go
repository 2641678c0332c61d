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
	portLines  = 3 // a doorbell, the packets given back, how many tracks are open
	wordSize   = 8
	packetsPer = 64 // packets of a port: a bit of a word each
)

// A layout says how large the parts of a segment are, and so where each of them is.
// See the figure in docs/endpoints/shm.md.
type layout struct {
	ports, processes, least, cells, packet int // least and most cells of a track
}

func (l layout) check() error {
	switch {
	case l.ports < 1 || l.ports > MaxPorts:
		return fmt.Errorf("%d ports: take 1 to %d", l.ports, MaxPorts)
	case l.processes < 1 || l.processes > MaxProcesses:
		return fmt.Errorf("%d processes: take 1 to %d", l.processes, MaxProcesses)
	case l.cells < 2 || l.cells > maxCells || l.cells&(l.cells-1) != 0:
		return fmt.Errorf("tracks of %d cells: take a power of two from 2 to %d", l.cells, maxCells)
	case l.least < 2 || l.least > l.cells || l.least&(l.least-1) != 0:
		return fmt.Errorf("tracks of at least %d cells: take a power of two from 2 to %d", l.least, l.cells)
	case l.least < l.cells && l.least*line%pageSize != 0:
		return fmt.Errorf("tracks of at least %d cells: what they give back when they become shorter is whole pages of %d cells", l.least, pageSize/line)
	case l.packet < minPacket || l.packet > maxPacket || l.packet%line != 0:
		return fmt.Errorf("packets of %d bytes: take a multiple of %d from %d to %d", l.packet, line, minPacket, maxPacket)
	case l.size() > maxSize:
		return fmt.Errorf("a segment of %d bytes: take fewer or smaller packets, or shorter tracks", l.size())
	}
	return nil
}

// bell is the offset of a port's doorbell; the lines behind it are for its packets and for its open tracks.
func (l layout) bell(port int) int { return pageSize + port*portLines*line }

func (l layout) returned(port int) int { return l.bell(port) + line }

func (l layout) opens(port int) int { return l.bell(port) + 2*line }

// open is the offset of the word that says that the track from a process to a port is open.
func (l layout) open(port, process int) int {
	words := (l.processes*wordSize + line - 1) / line * line
	return l.bell(l.ports) + port*words + process*wordSize
}

// track is the offset of the header of the ring from a process to a port.
func (l layout) track(port, process int) int {
	return l.open(l.ports, 0) + (port*l.processes+process)*ring.HeaderSize
}

// cellsOf is the offset of that ring's cells. Those of all tracks begin on a page.
func (l layout) cellsOf(port, process int) int {
	return wholePages(l.track(l.ports, 0)) + (port*l.processes+process)*l.cells*ring.CellSize
}

// slab is the offset of a port's packets. They begin on a page.
func (l layout) slab(port int) int {
	return wholePages(l.cellsOf(l.ports, 0)) + port*packetsPer*l.packet
}

func (l layout) size() int { return wholePages(l.slab(l.ports)) }

func wholePages(bytes int) int { return (bytes + pageSize - 1) / pageSize * pageSize }
