// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package numbers

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestThousands(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 999999: "999,999", 1234567: "1,234,567",
		math.MaxUint64: "18,446,744,073,709,551,615",
	} {
		assert.Equal(t, want, Thousands(n))
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		n     uint64
		width int
		want  string
	}{
		{0, 5, "0"}, {99999, 5, "99999"}, {100000, 5, "100k"}, {123499, 5, "123k"}, {123500, 5, "124k"}, {9999499, 5, "9999k"},
		{9999999, 5, "10M"}, {9999, 4, "9999"}, {10000, 4, "10k"}, {12345678, 8, "12345678"}, {math.MaxUint64, 5, "18E"},
		{math.MaxUint64, 20, "18446744073709551615"},
	} {
		got := Short(c.n, c.width)
		assert.Equal(t, c.want, got)
		assert.LessOrEqual(t, len(got), c.width)
	}
}
