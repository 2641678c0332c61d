// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/topology"
)

func cpus(t testing.TB, list string) topology.Set {
	s, err := topology.ParseSet(list)
	require.NoError(t, err)
	return s
}

func binding(t testing.TB, text string) Binding {
	b, err := ParseBinding(text)
	require.NoError(t, err)
	return b
}

func TestParseBinding(t *testing.T) {
	for text, want := range map[string]Binding{
		"none":             {Object: "none", Count: 1},
		"RR":               {Object: "rr", Count: 1},
		"core":             {Object: "core", Count: 1},
		"Core:2":           {Object: "core", Count: 2},
		"package":          {Object: "socket", Count: 1},
		"numanode:3":       {Object: "numa", Count: 3},
		"l1dcache":         {Object: "l1cache", Count: 1},
		"l2ucache:2":       {Object: "l2cache", Count: 2},
		"l1icache":         {Object: "l1icache", Count: 1},
		"pci:0000:41:00.0": {Object: "pci", ID: "0000:41:00.0", Count: 1},
		"gpu":              {Object: "gpu", Count: 1},
		"gpu3":             {Object: "gpu", ID: "3", Count: 1},
		"ib0":              {Object: "ib", ID: "0", Count: 1},
		"eth:2":            {Object: "en", Count: 2},
		"enp3s0":           {Object: "en", ID: "p3s0", Count: 1},
		"hfi1_0":           {Object: "hfi", ID: "1_0", Count: 1},
		"hsn:2":            {Object: "hsn", Count: 2},
		"user:0+2,1+4,3":   {Object: "user", Count: 1, User: []topology.Set{{0, 2}, {1, 4}, {3}}},
		"user:4-6+1,2x2":   {Object: "user", Count: 1, User: []topology.Set{{1, 4, 5, 6}, {2}, {2}}},
	} {
		got, err := ParseBinding(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "board", "core:0", "core:x", "core:-1", "l6cache", "pci:", "user", "user:", "user:a", "user:0,,1", "user:0x0",
		"user:0x99999999", "gpu1:2", "none:1", "rr:2", "machine:1:2"} {
		_, err := ParseBinding(text)
		assert.Error(t, err, text)
	}
	for _, text := range []string{"none", "rr", "user:0"} {
		_, err := ParseMapping(text)
		assert.ErrorContains(t, err, "no hardware to go round", text)
	}
}

// ParseBinding reads what String has written, except lists.
func FuzzParseBinding(f *testing.F) {
	for _, seed := range []string{"none", "core:2", "l1icache", "gpu1", "pci:41:00.0", "user:0-3+5x2,1", "en"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBinding(text)
		if err != nil {
			return
		}
		assert.Positive(t, b.Count)
		again, err := ParseBinding(b.String())
		assert.NoError(t, err)
		assert.Equal(t, b, again)
	})
}
