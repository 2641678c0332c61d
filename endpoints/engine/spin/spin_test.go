// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package spin

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOneHolderAtATime(t *testing.T) {
	const threads, each = 8, 20000
	var lock Lock
	var group sync.WaitGroup
	counter := 0
	for range threads {
		group.Go(func() {
			for range each {
				lock.Lock()
				counter++
				lock.Unlock()
			}
		})
	}
	group.Wait()
	assert.Equal(t, threads*each, counter)
}

func TestTryLockTakesAFreeLockOnly(t *testing.T) {
	var lock Lock
	assert.True(t, lock.TryLock())
	assert.False(t, lock.TryLock())
	lock.Unlock()
	assert.True(t, lock.TryLock())
}
