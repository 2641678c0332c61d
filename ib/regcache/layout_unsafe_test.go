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
	assert.GreaterOrEqual(t, unsafe.Offsetof(c.misses)-unsafe.Offsetof(c.registrar), uintptr(64+8))
}
