// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package packet

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestLayout(t *testing.T) {
	assert.Equal(t, uintptr(4*line), unsafe.Sizeof(deque{}))
	var p Pool
	assert.GreaterOrEqual(t, unsafe.Offsetof(p.shared)-unsafe.Offsetof(p.next)-unsafe.Sizeof(p.next), uintptr(line))
	assert.GreaterOrEqual(t, unsafe.Offsetof(p.victim)-unsafe.Offsetof(p.shared), uintptr(line+8))

	for _, packets := range []int{1, 3, 100} {
		p := newPool(t, packets, packets)
		for w := range p.private {
			assert.Zero(t, uintptr(unsafe.Pointer(&p.private[w]))%line)
		}
		assert.Zero(t, uintptr(unsafe.Pointer(&p.Data(1)[0]))%uintptr(os.Getpagesize()))
		for i := range uint32(packets) {
			assert.Len(t, p.Data(i+1), 128)
			assert.Equal(t, uintptr(i)*128, uintptr(unsafe.Pointer(&p.Data(i + 1)[0]))-uintptr(unsafe.Pointer(&p.slab[0])))
		}
	}
}
