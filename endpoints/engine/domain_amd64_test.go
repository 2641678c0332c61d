// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/endpoints/engine/locks"
)

// A thread knows which processor, and so which node, it runs on, unless the machine hides how to ask.
func TestDomain(t *testing.T) {
	if !hasRDTSCP() {
		assert.Equal(t, 1, domains())
		return
	}
	runtime.LockOSThread() // and not unlocked: the thread ends with the test
	var allowed unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &allowed))
	p := &Port{hmcs: locks.NewHMCS(domains())}
	for cpu := range 1024 {
		if !allowed.IsSet(cpu) {
			continue
		}
		var one unix.CPUSet
		one.Set(cpu)
		require.NoError(t, unix.SchedSetaffinity(0, &one))
		assert.EqualValues(t, cpu, processorAndNode()&0xfff)
		assert.Less(t, p.domain(), domains())
	}
}
