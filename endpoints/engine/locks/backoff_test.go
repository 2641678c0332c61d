// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Calls that meet a held lock try it ever less often, and in the end enough is enough.
func TestBackoff(t *testing.T) {
	var b Backoff
	var tried []int
	enough := false
	for call := 0; !enough; call++ {
		if b.Due() {
			tried = append(tried, call)
			enough = b.Failed()
		}
	}
	assert.Equal(t, []int{0, 2, 6, 14, 30, 47, 64, 81, 98}, tried[:9])
	assert.Len(t, tried, tolerated+1)
	calls := tried[len(tried)-1] + 1
	assert.GreaterOrEqual(t, calls, 10*len(tried), "at least ten calls for an attempt")
	assert.Less(t, calls, 1000, "the bound within which a repeated call waits for the lock")
	assert.False(t, b.Due())
	b.Hurry()
	assert.True(t, b.Due(), "after a sleep")
	b.Failed()
	b.Reset()
	assert.True(t, b.Due(), "from the beginning")
}
