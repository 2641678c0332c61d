// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ranges

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	for part, want := range map[string][2]int{"5": {5, 5}, "0-2": {0, 2}, "007-010": {7, 10}, "2147483647": {2147483647, 2147483647}} {
		first, last, ok := Parse(part)
		assert.True(t, ok, part)
		assert.Equal(t, want, [2]int{first, last}, part)
	}
	for _, part := range []string{"", "-", "1-", "-1", "2-1", "1-2-3", "a", "0x1", " 1", "2147483648", "0-99999999999999999999"} {
		_, _, ok := Parse(part)
		assert.False(t, ok, part)
	}
}

func TestFormat(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "4-7": {4, 5, 6, 7}, "0,2": {0, 2}, "0-1,5,7-8": {0, 1, 5, 7, 8}, "3,1-2": {3, 1, 2}} {
		assert.Equal(t, want, Format(numbers))
	}
}

func TestList(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "4,5,6": {4, 5, 6}, "0,-1,2": {0, -1, 2}} {
		assert.Equal(t, want, List(numbers))
	}
}
