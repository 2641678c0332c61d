// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A countsWriter writes what a rank counts.
type countsWriter []byte

func newCounts() countsWriter { return make([]byte, countsBytes) }

func (c countsWriter) words(at int, words ...uint64) countsWriter {
	for i, w := range words {
		binary.NativeEndian.PutUint64(c[at+8*i:], w)
	}
	return c
}

func (c countsWriter) numbers(at int, numbers ...uint32) countsWriter {
	for i, n := range numbers {
		binary.NativeEndian.PutUint32(c[at+4*i:], n)
	}
	return c
}

func (c countsWriter) text(at int, text string) countsWriter {
	copy(c[at:], text)
	return c
}

// some is a rank with ticks of half a nanosecond, one row in each table, and some calls that did not fit.
func some() countsWriter {
	c := newCounts()
	c.numbers(0, 1, 1, 1, 1, 1)
	c.words(24, 1000, 5000, 3000, 6000) // ticks 1,000 are 5,000 ns, ticks 3,000 are 6,000 ns
	c.words(56, 1000, 2600, 400)        // began, ended, inside
	c.words(sizesAt+4*amountBytes, 7, 60)
	c.words(groupsAt+groupBytes, 1).numbers(groupsAt+groupBytes+8, 4, 2).words(groupsAt+groupBytes+16, 3, 24).text(groupsAt+groupBytes+32, "MPI_COMM_WORLD")
	c.text(objectsAt+objectBytes+8, "/bin/program")
	barrier := uint64(functionNumber("Barrier"))
	c.words(rowsAt, 0, 0, 5, 50, 100, 0, 40, 0, 0)
	c.words(rowsAt+rowBytes, barrier|1<<16|1<<32, 0x1234, 4, 0, 200, 20, 80, 4000, 0)
	c.numbers(peersAt+peerBytes, 3).words(peersAt+peerBytes+8, 2, 20, 0, 0, 1, 8, 4, 40)
	return c
}

func functionNumber(name string) int {
	for i, f := range functions() {
		if f.name == name {
			return i
		}
	}
	return -1
}

func TestReadCounts(t *testing.T) {
	counts, counted := readCounts(some())
	require.True(t, counted)
	assert.Equal(t, Counts{
		Began: 5000, Last: 5800, Finalized: true, Inside: 200,
		Rows: []Row{
			{Group: NotInTable, Object: NotInTable, Calls: 5, Bytes: 50, Time: 50, Longest: 20},
			{Function: "MPI_Barrier", Group: 1, Object: 1, Place: 0x1234, Calls: 4, Time: 100, Shortest: 10, Longest: 40, Entered: 500},
		},
		Peers:   []Peer{{Rank: 3, To: [ways]Amount{Messages: {2, 20}, Collective: {1, 8}}, From: [ways]Amount{Messages: {4, 40}}}},
		Groups:  []Group{{}, {ID: 1, Size: 4, Rank: 2, ToAll: Amount{3, 24}, Name: "MPI_COMM_WORLD"}},
		Objects: []string{"", "/bin/program"},
		Sizes:   []Size{{Way: Messages, Class: 4, Amount: Amount{7, 60}}},
	}, counts)
}

func TestReadNoCounts(t *testing.T) {
	_, counted := readCounts(newCounts())
	assert.False(t, counted)
	var none *Board
	assert.Empty(t, none.Counts())
	b, err := NewBoard([]LocalRank{{Rank: 4}, {Rank: 5}}, true)
	require.NoError(t, err)
	defer b.Close()
	assert.Empty(t, b.Counts())
	copy(b.bytes[headerBytes+2*rankBytes+countsBytes:], some())
	all := b.Counts()
	require.Len(t, all, 1)
	assert.Equal(t, 5, all[0].Rank)
}

// Whatever a rank has written, it is read without a panic, and times and numbers make sense.
func FuzzReadCounts(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte(some()[:200]), 0)
	f.Add([]byte(some()[rowsAt:rowsAt+200]), rowsAt)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 4)
	f.Fuzz(func(t *testing.T, bytes []byte, at int) {
		c := some()
		copy(c[uint(at)%uint(len(c)):], bytes)
		counts, _ := readCounts(c)
		assert.GreaterOrEqual(t, counts.Inside, time.Duration(0))
		assert.GreaterOrEqual(t, counts.Last, counts.Began)
		for _, row := range counts.Rows {
			assert.True(t, row.Calls > 0 && row.Bytes >= 0 && row.Time >= 0 && row.Longest >= 0 && row.Entered >= 0, "%+v", row)
			assert.Less(t, row.Group, len(counts.Groups))
			assert.Less(t, row.Object, len(counts.Objects))
		}
	})
}
