// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package ib

import (
	"math"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

// A state is a word that docs and tables know.
func FuzzState(f *testing.F) {
	for _, text := range []string{"4: ACTIVE", "1: DOWN", "2: INIT", "3: ARMED", "5: ACTIVE_DEFER", "", "ACTIVE", "0: NOP"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state := parseState(text)
		assert.Contains(t, []string{"up", "down", "init", "armed", "unknown"}, state)
		if state == "up" {
			assert.Contains(t, text, ": ACTIVE")
		}
	})
}

// A speed is a number that adds up, whatever the text.
func FuzzRate(f *testing.F) {
	for _, text := range []string{"200 Gb/sec (4X HDR)", "2.5 Gb/sec (1X SDR)", "", "NaN Gb/sec", "-1 Gb/sec", "1e300 Gb/sec", "0x1p-2 Gb/sec"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rate := parseRate(text)
		assert.GreaterOrEqual(t, rate, 0)
		assert.LessOrEqual(t, rate, math.MaxInt32)
	})
}

// A table has the entries that are addresses, in the order of their numbers, and each of them once.
func FuzzGIDs(f *testing.F) {
	f.Add("fe80:0000:0000:0000:b859:9f03:00d4:1a2e", "IB/RoCE v1", "ib0", uint8(0))
	f.Add("0000:0000:0000:0000:0000:ffff:0a14:0005", "RoCE v2", "bond0", uint8(12))
	f.Add("0000:0000:0000:0000:0000:0000:0000:0000", "", "", uint8(255))
	f.Add("fe80::1%eth0", "", "", uint8(1))
	f.Add("10.0.0.1", "", "", uint8(2))
	f.Fuzz(func(t *testing.T, gid, kind, link string, index uint8) {
		sys := fstest.MapFS{"p/gids/9": {Data: []byte("fe80:0000:0000:0000:0000:0000:0000:0001\n")}}
		name := strconv.Itoa(int(index))
		sys["p/gids/"+name] = &fstest.MapFile{Data: []byte(gid + "\n")}
		sys["p/gid_attrs/types/"+name] = &fstest.MapFile{Data: []byte(kind + "\n")}
		sys["p/gid_attrs/ndevs/"+name] = &fstest.MapFile{Data: []byte(link + "\n")}
		last := -1
		for _, g := range readGIDs(sys, "p/", allGIDs) {
			assert.Greater(t, g.Index, last)
			last = g.Index
			assert.True(t, g.Address.Is6() && g.Address.Zone() == "" && !g.Address.IsUnspecified(), "%q", gid)
			again, used := parseGID(g.Address.StringExpanded())
			assert.True(t, used)
			assert.Equal(t, g.Address, again)
		}
	})
}
