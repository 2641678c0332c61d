// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0 s", 1: "1.00 s", 12.34: "12.3 s", 99.96: "100 s", 123456.7: "123,457 s", 0.0031: "3.10 ms", 0.00045: "450 us", 2e-7: "0.20 us",
		0.9999: "1.00 s", 0.0009999: "1.00 ms", -0.0021: "-2.10 ms", -12.34: "-12.3 s",
	} {
		assert.Equal(t, want, seconds(x))
	}
	for x, want := range map[float64]string{0: "0 B", 1023: "1,023 B", 1023.9: "1.00 KiB", 1536: "1.50 KiB", 1 << 20: "1.00 MiB", 1023.9 * (1 << 20): "1.00 GiB", 1 << 62: "4.00 EiB"} {
		assert.Equal(t, want, size(x))
	}
	for x, want := range map[float64]string{0: "0 %", 0.0001: "<0.1 %", 0.001: "0.1 %", 0.0994: "9.9 %", 0.0996: "10 %", 0.64: "64 %", 1: "100 %"} {
		assert.Equal(t, want, percent(x))
	}
	for x, want := range map[int64]string{0: "0 B", 1: "1 B", 2: "2-3 B", 512: "512-1023 B", 1024: "1 KiB-2 KiB", 1 << 19: "512 KiB-1 MiB", 1 << 60: "1024 PiB-2048 PiB"} {
		assert.Equal(t, want, class(x))
	}
	assert.Equal(t, []string{"1 host", "2 hosts", "1 process", "2 processes", "1,000 ranks"},
		[]string{number(1, "host"), number(2, "host"), number(1, "process"), number(2, "process"), number(1000, "rank")})
	assert.Equal(t, "1.23e+19", count(1.234e19))
}

func TestPlaces(t *testing.T) {
	p := &Profile{Places: []Place{{"/a/b/solver.c", 212, "step", "/a/solver"}, {"halo.c", 0, "", ""}, {"", 0, "hist_sync", "/l/libhist.so"}, {"", 0, "", "/l/libhist.so"}, {}}}
	for i, want := range [][2]string{{"solver.c:212", "/a/b/solver.c:212 in step of /a/solver"}, {"halo.c", "halo.c"}, {"hist_sync()", "in hist_sync of /l/libhist.so"},
		{"libhist.so", "of /l/libhist.so"}, {"unknown place", "unknown place"}} {
		assert.Equal(t, want, [2]string{p.where(i), p.whole(i)})
	}
	assert.Equal(t, "other places", p.where(Other))
}

func TestRankNames(t *testing.T) {
	p := &Profile{Ranks: []Rank{{Rank: 3}, {Group: 2, Rank: 3}}}
	assert.Equal(t, []string{"3", "2:3"}, []string{p.rankName(0), p.rankName(1)})
	assert.Equal(t, "a, b", some([]string{"a", "b"}))
	assert.Equal(t, "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and 2 more", some([]string{"1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"}))
	assert.Equal(t, "ab~", cut("abcde", 3))
	assert.Equal(t, "äöü", cut("äöü", 3))
}
