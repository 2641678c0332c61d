// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// C checks the memory before Go runs.
func TestMemoryIsThatOfC(t *testing.T) {
	source, err := os.ReadFile("../limits.c")
	require.NoError(t, err)
	assert.Contains(t, string(source), fmt.Sprintf("enum { ADDRESS_SPACE_MIB = %d, DATA_MIB = %d }", AddressMiB, DataMiB))
}

func TestCheck(t *testing.T) {
	assert.NoError(t, Check(1, 1, "-rpp"))
	assert.ErrorContains(t, Check(1e6, 1e6, "-rpp"), "1000000 ranks need about ")
	assert.ErrorContains(t, Check(1, 1e6, "-rpp"), "vm.max_map_count")
}

func TestCheckPrivate(t *testing.T) {
	assert.NoError(t, CheckPrivate(2, 2, 1000, false))
	assert.ErrorContains(t, CheckPrivate(1e6, 1e6, 1000, false), "1000000 ranks need about 120000")
	assert.ErrorContains(t, CheckPrivate(1e6, 1e6, 1000, true), "1000000 ranks need about 400000")
	assert.ErrorContains(t, CheckPrivate(2, 2, 10, false), "a rank needs about 20 file descriptors, but the limit is 10: raise it with ulimit -n 40")
}

func TestCheckWithoutProc(t *testing.T) {
	defer func(before string) { self = before }(self)
	self = t.TempDir() + "/self"
	assert.ErrorContains(t, Check(1, 1, "-rpp"), "look at what the process uses: stat "+self)
	assert.ErrorContains(t, Check(1, 1, "-rpp"), "; mount /proc")
}

func TestRanks(t *testing.T) {
	r := Resource{Alone: 10, PerRank: 3}
	assert.Equal(t, uint64(16), r.Need(2))
	for limit, ranks := range map[uint64]uint64{0: 0, 9: 0, 10: 0, 12: 0, 13: 1, 15: 1, 16: 2} {
		assert.Equal(t, ranks, r.Ranks(limit), limit)
	}
}
