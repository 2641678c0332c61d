// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestOpLayout(t *testing.T) {
	var o op
	assert.EqualValues(t, 256, unsafe.Sizeof(o))
	assert.EqualValues(t, 64, unsafe.Offsetof(o.buf), "second line")
	assert.EqualValues(t, 128, unsafe.Offsetof(o.cell), "third line")
	assert.EqualValues(t, 192, unsafe.Offsetof(o.share), "fourth line")
	assert.EqualValues(t, 256, unsafe.Sizeof(seat{}))
	assert.EqualValues(t, 128, unsafe.Offsetof(seat{}.sleeper), "third line")
	p := pool{port: &Port{fabric: new(Fabric)}}
	assert.Zero(t, uintptr(unsafe.Pointer(p.get()))%64)
}
