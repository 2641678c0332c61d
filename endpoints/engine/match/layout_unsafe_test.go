// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func TestLayout(t *testing.T) {
	assert.Equal(t, uintptr(line), unsafe.Sizeof(bucket{}))
	assert.Equal(t, uintptr(16), unsafe.Offsetof(bucket{}.entry), "the control word")
	assert.Equal(t, uintptr(16), unsafe.Sizeof(entry{}))
	assert.Equal(t, uintptr(line), unsafe.Sizeof(Node{}))

	var table Table
	var s space
	for _, gap := range [][2]uintptr{
		{unsafe.Offsetof(table.alone), unsafe.Offsetof(table.ordered)},
		{unsafe.Offsetof(table.clock), unsafe.Offsetof(table.order)},
		{unsafe.Offsetof(table.idle), unsafe.Sizeof(table)},
		{unsafe.Offsetof(s.shift), unsafe.Offsetof(s.spare)},
		{unsafe.Offsetof(s.spare), unsafe.Sizeof(s)},
	} {
		assert.GreaterOrEqual(t, gap[1]-gap[0], uintptr(line))
	}
}

func TestLinesAreAligned(t *testing.T) {
	nodes := &Nodes{}
	seen := map[uintptr]uint32{}
	for range 3000 {
		i := nodes.Add()
		at := address(nodes.At(i))
		assert.Zero(t, at%line)
		assert.Zero(t, seen[at], "node %d is where %d is", i, seen[at])
		seen[at] = i
	}
	for logSize := range 12 {
		assert.Zero(t, address(&newSpace(logSize).buckets[0])%line)
	}
}
