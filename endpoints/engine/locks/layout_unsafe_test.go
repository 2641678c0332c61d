// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// What different threads write lies on different cache lines.
func TestLayout(t *testing.T) {
	assert.EqualValues(t, 64, unsafe.Sizeof(Node{}))
	assert.EqualValues(t, 64, unsafe.Sizeof(Entry[op]{}))
	assert.EqualValues(t, 128, unsafe.Sizeof(leaf{}))
	assert.EqualValues(t, 64, unsafe.Offsetof(leaf{}.node))
	assert.EqualValues(t, 128, unsafe.Sizeof(Queue[op]{}))
	assert.EqualValues(t, 64, unsafe.Offsetof(Queue[op]{}.head))
	assert.EqualValues(t, 128, unsafe.Sizeof(CSync[op]{}))
	assert.EqualValues(t, 64, unsafe.Offsetof(CSync[op]{}.single))
	assert.EqualValues(t, 3, unsafe.Sizeof(Backoff{}))
}
