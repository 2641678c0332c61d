// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestField(t *testing.T) {
	assert.Equal(t, "4.0.2", field("x: 1\nMPICH Version:    \t4.0.2\n", "MPICH Version"))
	assert.Equal(t, "unknown", field("x: 1\n", "y"))
}

const stat = "cpu  100 10 40 800 20 5 5 20 7 0\ncpu0 1 2\n"

func TestLoad(t *testing.T) {
	l, err := parseStat(stat)
	require.NoError(t, err)
	assert.Equal(t, Load{busy: 1600 * time.Millisecond, stolen: 200 * time.Millisecond, all: 10 * time.Second}, l)
	for _, text := range []string{"", "cpu 1 2 3", "cpu a b c d e f g h"} {
		_, err := parseStat(text)
		assert.ErrorContains(t, err, "/proc/stat")
	}

	later := Load{busy: l.busy + 5*time.Second, stolen: l.stolen, all: l.all + 10*time.Second, ours: 4900 * time.Millisecond}
	assert.Equal(t, "quiet machine: others used 1.0 % of the processors' time during the run, the hypervisor took 0.0 %", later.Since(l))
	later.stolen += 300 * time.Millisecond
	assert.Contains(t, later.Since(l), "BUSY machine: others used 1.0 %")
	assert.Contains(t, l.Since(l), "too short")

	now, err := ReadLoad()
	require.NoError(t, err)
	assert.Positive(t, now.ours)
}
