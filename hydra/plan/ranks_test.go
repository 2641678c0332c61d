// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRanks(t *testing.T) {
	for text, want := range map[string][]int{"none": nil, "0": {0}, "0-2,5": {0, 1, 2, 5}, "ALL": {0, 1, 2, 3, 4, 5, 6}, "6,0-0": {0, 6}} {
		ranks, err := ParseRanks(text)
		require.NoError(t, err, text)
		require.NotNil(t, ranks)
		var got []int
		for rank := range 7 {
			if ranks.Hold(rank) {
				got = append(got, rank)
			}
		}
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "2-1", "1,", "a", "1--2", "99999999999"} {
		_, err := ParseRanks(text)
		assert.ErrorContains(t, err, "is not all, none or a list of ranks", text)
	}
}
