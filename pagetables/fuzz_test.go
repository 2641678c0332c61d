// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Mappings are whole pages, behind one another.
func FuzzMappings(f *testing.F) {
	w := threads(f)
	for _, name := range []string{"maps", "smaps"} {
		text, err := os.ReadFile(w.proc.path(9, name))
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add("7fff0000-7fff1000 r-xp 00000000 00:00 0 \t[vdso]\nRss: 18446744073709551615 kB\n")
	f.Add("1000-2000 ---s 0 0:0 0 /a b\\012c (deleted)\nTHPeligible:    0\nVmFlags: rd\nRss: 4 kB")
	f.Fuzz(func(t *testing.T, text string) {
		end := uint64(0)
		_ = ReadMappings(strings.NewReader(text), func(m *Mapping) error {
			assert.Less(t, m.Start, m.End)
			assert.LessOrEqual(t, end, m.Start)
			assert.Zero(t, (m.Start|m.End)%pageSize)
			assert.Len(t, m.Perm, 4)
			end = m.End
			segmentOf(m)
			new(landmarks).note(m)
			return nil
		})
	})
}

// A line that is read names nodes from 0 on.
func FuzzNodes(f *testing.F) {
	f.Add("7f00 default file=/lib/N7=x anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4", uint64(0x7f00))
	f.Add("1000 bind:0 huge N0=1 kernelpagesize_kB=2048\n2000 default\n", uint64(0x2000))
	f.Fuzz(func(t *testing.T, text string, start uint64) {
		nodes, err := newNodeReader(strings.NewReader(text)).of(start)
		if err != nil {
			assert.Empty(t, nodes)
		}
		for node := range nodes {
			assert.GreaterOrEqual(t, node, 0)
		}
	})
}

// Runs of a page map are whole, within what was asked for, and behind one another.
func FuzzPageMap(f *testing.F) {
	entries := []byte{}
	for _, e := range []uint64{ofFile, none, anonymous, anonymous, swapped, forked} {
		entries = binary.LittleEndian.AppendUint64(entries, e)
	}
	f.Add(entries, uint64(1), uint64(4))
	f.Add(entries[:13], uint64(0), uint64(9000))
	f.Fuzz(func(t *testing.T, entries []byte, from, n uint64) {
		path := filepath.Join(t.TempDir(), "pagemap")
		require.NoError(t, os.WriteFile(path, entries, 0o600))
		p, err := openPageMap(path)
		require.NoError(t, err)
		defer p.close()
		start, end := from%4096*pageSize, (from%4096+n%65536)*pageSize
		at := start
		err = p.populated(start, end, func(from, to uint64) {
			assert.GreaterOrEqual(t, from, at)
			assert.Less(t, from, to)
			assert.LessOrEqual(t, to, end)
			at = to
		})
		assert.NoError(t, err)
	})
}

// A process may have anything where its census is looked for. What is taken of it are
// spans of whole pages, behind one another.
func FuzzCensus(f *testing.F) {
	const size = 0x4000
	image := make([]byte, size)
	for address, words := range threadsMemory() {
		for i, word := range words {
			if at := address - 0x100000 + uint64(i)*8; address < 0x100000+size {
				binary.LittleEndian.PutUint64(image[at:], word)
			}
		}
	}
	f.Add(image)
	f.Fuzz(func(t *testing.T, image []byte) {
		m := memory{shifted{bytes.NewReader(image), 0x100000}}
		c, _ := m.census([]uint64{0x100000})
		if c == nil {
			return
		}
		c.describes(9)
		l := &landmarks{heaps: []span{{start: 0x100000, end: 0x900000}}, stack: span{start: 0x7f0000, end: 0x800000}, heap: span{start: 0x600000, end: 0x700000}}
		end := uint64(0)
		for _, s := range c.spansOf(m, l) {
			assert.Less(t, s.start, s.end)
			assert.LessOrEqual(t, end, s.start)
			assert.Zero(t, (s.start|s.end)%pageSize)
			end = s.end
		}
	})
}

// shifted is a reader whose first byte has an address.
type shifted struct {
	*bytes.Reader
	base int64
}

func (s shifted) ReadAt(p []byte, at int64) (int, error) {
	return s.Reader.ReadAt(p, max(at-s.base, -1))
}

// Names and numbers of processes may be anything.
func FuzzStatus(f *testing.F) {
	f.Add("Name:\tx\nUid:\t1 2\nNSpid:\t4 5\nVmPTE:\t 40 kB\n", "9 (a) b) S 1"+strings.Repeat(" 7", 30))
	f.Add("", "")
	f.Fuzz(func(t *testing.T, status, stat string) {
		s := parseStatus(status)
		assert.Zero(t, s.tables%1024)
		parseStat(stat)
	})
}
