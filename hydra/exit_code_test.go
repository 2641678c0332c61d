// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package hydra

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tpsl/tpsl/hydra/plan"
)

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
		rule, err := plan.ParseExitRule(row.rule)
		require.NoError(t, err)
		sum := tally{rule: rule}
		for _, status := range row.ends {
			sum.add(status)
		}
		assert.Equal(t, row.want, sum.code, "%s %v", row.rule, row.ends)
	}
	_, err := plan.ParseExitRule("last")
	assert.ErrorContains(t, err, "is not one of or, first, max, 128+sig")
}
