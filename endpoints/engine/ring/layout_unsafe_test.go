// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLayout(t *testing.T) {
	var c Cell
	assert.EqualValues(t, CellSize, unsafe.Sizeof(c))
	assert.EqualValues(t, 4, unsafe.Offsetof(c.Kind))
	assert.EqualValues(t, 8, unsafe.Offsetof(c.Context))
	assert.EqualValues(t, 12, unsafe.Offsetof(c.Source))
	assert.EqualValues(t, 16, unsafe.Offsetof(c.Tag))
	assert.EqualValues(t, 20, unsafe.Offsetof(c.Length))
	assert.EqualValues(t, 24, unsafe.Offsetof(c.Inline))
	assert.EqualValues(t, HeaderSize, unsafe.Sizeof(producers{})+unsafe.Sizeof(consumer{}))
	assert.EqualValues(t, CellSize, unsafe.Sizeof(producers{}))
	var r Ring
	assert.EqualValues(t, 64, unsafe.Offsetof(r.next), "what the consumer writes has a line of its own")
	assert.EqualValues(t, 128, unsafe.Sizeof(r))
}

// Each ring lies on cache lines, whatever the allocator does.
func TestMemoryIsOnLines(t *testing.T) {
	for capacity := 2; capacity <= 1024; capacity *= 2 {
		r, err := New(capacity)
		require.NoError(t, err)
		assert.Zero(t, uintptr(unsafe.Pointer(&r.cells[0]))%CellSize, "%d cells", capacity)
	}
}
