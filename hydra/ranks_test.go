// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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

func TestPattern(t *testing.T) {
	at := Place{Label: "4-7", Group: 1, Proxy: 2, Host: "a%r", Seconds: 3}
	pattern, err := ParsePattern("%r|%g|%p|%h|%t|%%r|")
	require.NoError(t, err)
	assert.Equal(t, "4-7|1|2|a%r|3|%r|", pattern.Expand(at))
	for _, text := range []string{"%", "x%q", "%%%"} {
		_, err := ParsePattern(text)
		assert.ErrorContains(t, err, "use %r (rank)", text)
	}
}

func TestExitRule(t *testing.T) {
	killed, crashed := unix.WaitStatus(9), unix.WaitStatus(11|0x80)
	exited := func(code int) unix.WaitStatus { return unix.WaitStatus(code << 8) }
	for _, row := range []struct {
		rule string
		ends []unix.WaitStatus
		want int
	}{
		{"or", []unix.WaitStatus{exited(0), exited(1), exited(2)}, 3},
		{"or", []unix.WaitStatus{exited(6), killed}, 9},
		{"or", []unix.WaitStatus{crashed}, 128 + 11},
		{"first", []unix.WaitStatus{exited(0), exited(4), exited(3)}, 4},
		{"max", []unix.WaitStatus{exited(4), exited(5), exited(3)}, 5},
		{"max", []unix.WaitStatus{exited(4), killed}, 128 + 9},
		{"first", []unix.WaitStatus{killed, exited(4)}, 128 + 9},
		{"128+SIG", []unix.WaitStatus{exited(1), exited(2)}, 3},
		{"128+sig", []unix.WaitStatus{crashed}, 128 + 11},
	} {
		rule, err := ParseExitRule(row.rule)
		require.NoError(t, err)
		sum := tally{rule: rule}
		for _, status := range row.ends {
			sum.add(status)
		}
		assert.Equal(t, row.want, sum.code, "%s %v", row.rule, row.ends)
	}
	_, err := ParseExitRule("last")
	assert.ErrorContains(t, err, "is not one of or, first, max, 128+sig")
}
