// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package loader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// A thread that waits sleeps: with real-time priorities, one that spins keeps the owner
// from ever running.
func TestLockSleeps(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/lock.c", "signal_lock.c", "-D_GNU_SOURCE", "-I.", "-O2", "-pthread")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "slept, 400000 counted\n", stdout)
}

// A thread that waits long for a lock where ranks meet leaves the processor to the owner, whatever their priorities.
func TestLocksOfAllRanks(t *testing.T) {
	program := testsupport.CC(t, "gcc", "testdata/yielding.c", "libc_locks.c", "-D_GNU_SOURCE", "-I.", "-O2", "-pthread")
	stdout, stderr, code := testsupport.Run(t, time.Minute, nil, program)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "both slept, 400000 and 400000 counted\n", stdout)
}
