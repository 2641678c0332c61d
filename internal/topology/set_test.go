// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSets(t *testing.T) {
	for list, want := range map[string]Set{"": nil, "\n": nil, "3": {3}, "0-2,8\n": {0, 1, 2, 8}, "5,0,1-1": {0, 1, 5}, "1-3,2": {1, 2, 3}} {
		s, err := ParseSet(list)
		assert.NoError(t, err, list)
		assert.Equal(t, want, s, list)
	}
	for _, list := range []string{",", "1,", "a", "-1", "3-1", "1-", "70000", "0-4294967295", "1 2", "+1", "0x1"} {
		_, err := ParseSet(list)
		assert.Error(t, err, list)
	}
	assert.Equal(t, Set{1, 5}, Set{0, 1, 5, 6}.And(Set{1, 2, 5}))
	assert.Equal(t, Set{0, 1, 2}, Set{0, 2}.Or(Set{1, 2}))
}

// A list is refused, or is one that String writes back to the same set: ascending, without repetition, bounded.
func FuzzParseSet(f *testing.F) {
	for _, seed := range []string{"0-3,8", "", "1,1,1", "0-65535", "65535,0", "0-1-2", "9999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		s, err := ParseSet(list)
		if err != nil {
			assert.Nil(t, s)
			return
		}
		assert.True(t, slices.IsSorted(s))
		assert.LessOrEqual(t, len(s), maxID)
		again, err := ParseSet(s.String())
		assert.NoError(t, err)
		assert.Equal(t, s, again)
	})
}
