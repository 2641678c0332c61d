// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type item struct {
	Name  string
	Ranks []int
}

type all struct {
	Yes, No   bool
	Low, High int
	Wait      time.Duration
	Status    uint32
	Text      []byte
	Digest    [4]byte
	Items     []item
	Info      map[string]string
	None      []string
	Empty     []string
}

func example() all {
	return all{
		Yes: true, Low: math.MinInt, High: math.MaxInt, Wait: time.Minute, Status: math.MaxUint32,
		Text: []byte{0, 0x7f, 0x80, 0xff}, Digest: [4]byte{1, 2, 3, 255},
		Items: []item{{"not UTF-8: \xff\xfe", []int{0, -1, 1 << 40}}, {}},
		Info:  map[string]string{"wdir": "/", "": "\n"},
		Empty: []string{},
	}
}

func TestEncode(t *testing.T) {
	var got all
	require.NoError(t, Decode(Encode(example()), &got))
	assert.Equal(t, example(), got)
	for _, v := range []any{1.5, func() {}, new(int), []any{1}, struct{ P *int }{}} {
		assert.Panics(t, func() { Encode(v) }, "%T", v)
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := Encode(example())
	for n := range whole {
		require.ErrorIs(t, Decode(whole[:n], new(all)), errShort, "%d of %d bytes", n, len(whole))
	}
	assert.EqualError(t, Decode(append(whole, 0), new(all)), "read wire.all: 1 bytes too many")
	for name, b := range map[string][]byte{
		"endless slice":  {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"endless number": {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
	} {
		assert.ErrorIs(t, Decode(b, new([]item)), errShort, name)
	}
}

// Bytes are either refused, or read as a value whose encoding is the same bytes.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(example()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, again all
		if Decode(b, &first) != nil {
			return
		}
		require.NoError(t, Decode(Encode(first), &again))
		require.Equal(t, first, again)
	})
}
