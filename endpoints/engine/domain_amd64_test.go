// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
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

// On a machine of two NUMA nodes threads know theirs, and the lock of model HMCS goes from one to the other far less often than one
// that goes by the queue alone.
func TestHMCSOnTwoNodes(t *testing.T) {
	if os.Getenv("TPSL_TEST_NUMA") == "" {
		t.Skip("needs a machine whose processors 0 and 1 are NUMA nodes 0 and 1, and TPSL_TEST_NUMA: TestNUMA of tests/rdma runs this in a guest")
	}
	require.Equal(t, 2, domains())
	hmcs, mcs := locks.NewHMCS(2), new(locks.MCS)
	byHMCS := changesOfNode(t, hmcs.Acquire, hmcs.Release)
	byMCS := changesOfNode(t, func(n *locks.Node, _ int) { mcs.Acquire(n) }, func(n *locks.Node, _ int) { mcs.Release(n) })
	t.Logf("of %d times the lock went to the other node %d times, and %d times by the queue alone", 4*takings, byHMCS, byMCS)
	assert.Less(t, byHMCS, byMCS/4)
}

// takings is how often each thread takes the lock.
const takings = 500

// changesOfNode has two threads of each node take a lock, and returns how often it went to the other node. Who has it keeps it until
// all others want it.
func changesOfNode(t *testing.T, acquire, release func(*locks.Node, int)) (changes int) {
	t.Helper()
	last := 0
	var all sync.WaitGroup
	var alive, waiting atomic.Int32
	alive.Store(4)
	for i := range 4 {
		all.Go(func() {
			runtime.LockOSThread() // and not unlocked: the thread ends with the goroutine
			var one unix.CPUSet
			one.Set(i % 2)
			assert.NoError(t, unix.SchedSetaffinity(0, &one))
			n := new(locks.Node)
			defer alive.Add(-1)
			for range takings {
				node := int(processorAndNode() >> 12)
				waiting.Add(1)
				acquire(n, node)
				for waiting.Add(-1); waiting.Load() < alive.Load()-1; {
					runtime.Gosched()
				}
				if node != last {
					changes++
				}
				last = node
				release(n, node)
				if node != i%2 {
					assert.Fail(t, "the thread runs on another node")
					return
				}
			}
		})
	}
	all.Wait()
	return changes
}
