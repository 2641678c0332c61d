// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package malloc

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

func TestArray(t *testing.T) {
	list := []uint32{3, 1, 4, 1, 5}
	array := Array(list)
	list[0] = 9
	assert.Equal(t, []uint32{3, 1, 4, 1, 5}, unsafe.Slice(array, 5))
	assert.Nil(t, Array([]uint32(nil)))
}

func TestStrings(t *testing.T) {
	for _, list := range [][]string{nil, {"A=1"}, {"A=1", "", "B=x y"}} {
		array := unsafe.Slice((**byte)(Strings(list)), len(list)+1)
		for i, s := range list {
			assert.Equal(t, s, unix.BytePtrToString(array[i]))
		}
		assert.Nil(t, array[len(list)])
	}
}
