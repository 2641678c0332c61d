// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArrival(t *testing.T) {
	a := Arrival{"0,2:7", 300, []Entry{{"kvs", "key", "value with blanks"}, {"", "", ""}, {"k", "\xff\x00", strings.Repeat("v", 300)}}}
	encoded := a.Append(nil)
	decoded, err := ParseArrival(encoded)
	require.NoError(t, err)
	assert.Equal(t, a, decoded)
	for cut := range encoded {
		if decoded, err := ParseArrival(encoded[:cut]); err == nil {
			assert.Less(t, len(decoded.Puts), len(a.Puts))
		}
	}
}

// Decoding and encoding again gives the same arrival.
func FuzzArrival(f *testing.F) {
	f.Add(Arrival{"WORLD:0", 3, []Entry{{"a", "b", "c"}}}.Append(nil))
	f.Fuzz(func(t *testing.T, input []byte) {
		a, err := ParseArrival(input)
		if err != nil {
			return
		}
		again, err := ParseArrival(a.Append(nil))
		require.NoError(t, err)
		require.Equal(t, a, again)
	})
}
