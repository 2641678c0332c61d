// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package shm

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/endpoints/engine/carrier"
)

// What peers share is where they look for it.
func TestHeaderLayout(t *testing.T) {
	var h header
	assert.EqualValues(t, 128, unsafe.Sizeof(h.identity))
	assert.EqualValues(t, 0, unsafe.Offsetof(h.magic))
	assert.EqualValues(t, 8, unsafe.Offsetof(h.version))
	assert.EqualValues(t, 64, unsafe.Offsetof(h.pid))
	assert.EqualValues(t, 80, unsafe.Offsetof(h.probe))
	assert.EqualValues(t, 128, unsafe.Offsetof(h.left), "a line of its own")
	assert.EqualValues(t, 132, unsafe.Offsetof(h.changes))
	assert.EqualValues(t, line, unsafe.Sizeof(carrier.Bell{}))
}

// Parts of a segment do not overlap, and lie on cache lines.
func TestPartsOfASegment(t *testing.T) {
	l := layout{ports: 3, processes: 5, least: 4, cells: 4, packet: 1024}
	end := pageSize
	next := func(at, size int) {
		t.Helper()
		assert.GreaterOrEqual(t, at, end)
		assert.Zero(t, at%line)
		end = at + size
	}
	for port := range l.ports {
		next(l.bell(port), line)
		next(l.returned(port), line)
		next(l.opens(port), line)
	}
	for port := range l.ports {
		next(l.open(port, 0), l.processes*wordSize)
	}
	for port := range l.ports {
		for process := range l.processes {
			next(l.track(port, process), 128)
		}
	}
	for port := range l.ports {
		for process := range l.processes {
			next(l.cellsOf(port, process), 4*64)
		}
	}
	assert.Zero(t, l.cellsOf(0, 0)%pageSize)
	for port := range l.ports {
		next(l.slab(port), packetsPer*l.packet)
	}
	next(l.size(), 0)
	assert.Zero(t, l.slab(0)%pageSize)
}

// However large the node, a process finds addresses for all tracks.
func TestDefaultLayouts(t *testing.T) {
	for _, c := range []struct{ processes, ports, cells int }{{2, 1, 1024}, {64, 16, 1024}, {MaxProcesses, 1, 1024}, {MaxProcesses, 64, 256}, {MaxProcesses, MaxPorts, 64}} {
		l := Options{Ports: c.ports}.layout(c.processes)
		require.NoError(t, l.check())
		assert.Equal(t, c.cells, l.cells, "%+v", c)
		assert.Equal(t, 64, l.least)
		assert.Less(t, c.processes*l.size(), 1<<46, "%+v", c)
	}
}
