// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func set(cpus ...int) (s unix.CPUSet) {
	for _, cpu := range cpus {
		s.Set(cpu)
	}
	return s
}

func TestSplit(t *testing.T) {
	assert.Equal(t, []unix.CPUSet{set(0), set(1)}, split(set(0, 1), 2))
	assert.Equal(t, []unix.CPUSet{set(1, 4), set(5, 130)}, split(set(1, 4, 5, 130), 2))
	assert.Equal(t, []unix.CPUSet{set(0, 1), set(2)}, split(set(0, 1, 2), 2))
	assert.Equal(t, []unix.CPUSet{set(3), set(3)}, split(set(3), 2))
	assert.Equal(t, []unix.CPUSet{set(2, 3)}, split(set(2, 3), 1))
}

// A guest's processors come behind its devices.
func apart(t *testing.T, g *Group) {
	require.NoError(t, g.setApart())
	threads, err := g.machines[0].threads()
	require.NoError(t, err)
	processors := 0
	for id, name := range threads {
		attr, err := unix.SchedGetAttr(id, 0)
		if errors.Is(err, unix.ESRCH) {
			continue // a thread that helped is gone
		}
		require.NoError(t, err, name)
		if strings.HasPrefix(name, "CPU ") {
			processors++
			assert.EqualValues(t, unix.SCHED_IDLE, attr.Policy, name)
		} else {
			assert.EqualValues(t, unix.SCHED_NORMAL, attr.Policy, name)
		}
	}
	assert.Equal(t, g.machines[0].cpus, processors, threads)
}
