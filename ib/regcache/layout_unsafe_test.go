// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package regcache

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// A user of one region does not disturb those of another, nor a miss the hits.
func TestLayout(t *testing.T) {
	assert.EqualValues(t, 64, unsafe.Sizeof(Region{}))
	var c Cache
	assert.GreaterOrEqual(t, unsafe.Offsetof(c.limit)-unsafe.Offsetof(c.registrar), uintptr(64+8))
}

// The same figures stand in ib/verbs/journal.h.
func TestJournalLayout(t *testing.T) {
	var j Journal
	assert.EqualValues(t, 0, unsafe.Offsetof(j.told))
	assert.EqualValues(t, 64, unsafe.Offsetof(j.taken))
	assert.EqualValues(t, 72, unsafe.Offsetof(j.lost))
	assert.EqualValues(t, 128, unsafe.Offsetof(j.cells))
	assert.EqualValues(t, 128+1024*32, unsafe.Sizeof(j))
	var c cell
	assert.EqualValues(t, 0, unsafe.Offsetof(c.start))
	assert.EqualValues(t, 8, unsafe.Offsetof(c.end))
	assert.EqualValues(t, 16, unsafe.Offsetof(c.turn))
	assert.EqualValues(t, 32, unsafe.Sizeof(c))
}
