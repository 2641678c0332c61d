// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package fult

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestLayout(t *testing.T) {
	assert.EqualValues(t, 64, unsafe.Sizeof(Thread{}), "a switch reads one line")
	assert.EqualValues(t, 64, unsafe.Sizeof(line{}))
	assert.EqualValues(t, 64, unsafe.Sizeof(Bell{}))
	assert.EqualValues(t, 40, unsafe.Sizeof(Bit{}))
	assert.EqualValues(t, 128, unsafe.Sizeof(Sleeper{}))
	assert.EqualValues(t, 64, unsafe.Offsetof(Sleeper{}.bell))
	assert.EqualValues(t, 0, unsafe.Offsetof(Bit{}.word))
	assert.EqualValues(t, 8, unsafe.Offsetof(Bit{}.mask))
	assert.EqualValues(t, 16, unsafe.Offsetof(Bit{}.hint))
	assert.EqualValues(t, 24, unsafe.Offsetof(Bit{}.hintMask))
	assert.EqualValues(t, 32, unsafe.Offsetof(Bit{}.bell))
}

// Lines of the ready set are lines of the cache, threads start on one.
func TestLinesAreAligned(t *testing.T) {
	for _, threads := range []int{1, 600, 2000, 5000, 40_000, 1 << 18, 1 << 20} {
		w := NewWorker(threads)
		create(t, w, func(*Thread) {})
		assert.Zero(t, uintptr(unsafe.Pointer(&w.ready.lines[0]))%64, "%d threads", threads)
		assert.Zero(t, uintptr(unsafe.Pointer(w.thread(0)))%64)
	}
}
