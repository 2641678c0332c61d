// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process of 100,000 mappings, of a library each for every hundredth, is read in little
// memory.
func TestManyMappings(t *testing.T) {
	const n = 100_000
	w := newTree(t)
	w.process(9, 1, "prog")
	for _, name := range []string{"maps", "smaps", "numa_maps"} {
		f, err := os.Create(w.proc.path(9, name))
		require.NoError(t, err)
		out := bufio.NewWriter(f)
		for i := range n {
			start := 0x10000 + uint64(i)*2*pageSize
			if name == "numa_maps" {
				fmt.Fprintf(out, "%x default anon=1 N0=1 kernelpagesize_kB=4\n", start)
				continue
			}
			fmt.Fprintf(out, "%x-%x r--p 0 08:01 %d /lib/%d.so\n", start, start+pageSize, i/100+1, i/100)
			if name == "smaps" {
				fmt.Fprintln(out, "Rss: 4 kB\nPrivate_Dirty: 4 kB\nAnonymous: 4 kB")
			}
		}
		require.NoError(t, out.Flush())
		require.NoError(t, f.Close())
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p, err := w.proc.Read(9)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Equal(t, uint64(n*pageSize), p.Total.Resident)
	assert.Equal(t, Nodes{0: n * pageSize}, p.Total.Nodes)
	assert.Len(t, p.Rows, n/100)
	assert.Less(t, int64(after.HeapSys)-int64(before.HeapSys), int64(24<<20), "bytes that the heap grew by")
}
