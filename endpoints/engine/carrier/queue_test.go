// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package carrier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A queue that is never empty does not grow with what has passed through it, and keeps the order.
func TestQueueDoesNotGrow(t *testing.T) {
	var q Queue[uint64]
	for i := range uint64(100_000) {
		q.Put(i)
		if i >= 10 {
			e, found := q.Take()
			require.True(t, found)
			require.Equal(t, i-10, e)
		}
	}
	assert.LessOrEqual(t, cap(q.list), 64)
}
