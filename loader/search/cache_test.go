// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// entry is a line of a cache to build; hwcap names a subdirectory.
type entry struct {
	name, path, hwcap string
	flags             uint32
}

// buildCache writes the new format, with the hwcaps extension.
func buildCache(entries []entry, hwcaps []string) []byte {
	le := binary.LittleEndian
	tables := newHeader + newEntrySize*len(entries)
	text := []byte{}
	str := func(s string) uint32 {
		at := tables + len(text)
		text = append(append(text, s...), 0)
		return uint32(at)
	}
	head := append([]byte(newMagic), make([]byte, newHeader-len(newMagic))...)
	le.PutUint32(head[20:], uint32(len(entries)))
	head[28] = 2
	for _, e := range entries {
		var hwcap uint64
		for i, name := range hwcaps {
			if name == e.hwcap {
				hwcap = hwcapExtension<<32 | uint64(i)
			}
		}
		if e.hwcap == "legacy" {
			hwcap = 1 << 40
		}
		head = le.AppendUint32(head, e.flags)
		head = le.AppendUint32(head, str(e.name))
		head = le.AppendUint32(head, str(e.path))
		head = le.AppendUint32(head, 0)
		head = le.AppendUint64(head, hwcap)
	}
	var names []uint32
	for _, name := range hwcaps {
		names = append(names, str(name))
	}
	data := append(head, text...)
	le.PutUint32(data[32:], uint32(len(data)))
	data = le.AppendUint32(data, extensionMagic)
	data = le.AppendUint32(data, 2)
	for _, section := range [][4]uint32{
		{0, 0, 0, 0}, // the generator's name, which nobody needs
		{extensionHwcaps, 0, uint32(len(data) + 32), uint32(4 * len(names))},
	} {
		for _, v := range section {
			data = le.AppendUint32(data, v)
		}
	}
	for _, at := range names {
		data = le.AppendUint32(data, at)
	}
	return data
}

var (
	builtHwcaps = []string{"x86-64-v2", "x86-64-v3", "x86-64-v9"}
	built       = buildCache([]entry{
		{"libplain.so", "/l/libplain.so", "", flagX8664Libc},
		{"libold.so", "/l/libold.so", "", flagElf},
		{"lib32.so", "/l/lib32.so", "", 3},
		{"libcaps.so", "/l/v2", "x86-64-v2", flagX8664Libc},
		{"libcaps.so", "/l/v3", "x86-64-v3", flagX8664Libc},
		{"libcaps.so", "/l/v9", "x86-64-v9", flagX8664Libc},
		{"libcaps.so", "/l/plain", "", flagX8664Libc},
		{"liblegacy.so", "/l/haswell", "legacy", flagX8664Libc},
		{"libtwice.so", "/l/first", "", flagX8664Libc},
		{"libtwice.so", "/l/second", "", flagX8664Libc},
	}, builtHwcaps)
)

func TestParseCache(t *testing.T) {
	want := cache{"libplain.so": "/l/libplain.so", "libold.so": "/l/libold.so", "libtwice.so": "/l/first"}
	for name, c := range map[string]struct {
		hwcaps []string
		caps   string
	}{
		"plain": {nil, "/l/plain"},
		"v2":    {[]string{"x86-64-v2"}, "/l/v2"},
		"v3":    {[]string{"x86-64-v3", "x86-64-v2"}, "/l/v3"},
	} {
		t.Run(name, func(t *testing.T) {
			want["libcaps.so"] = c.caps
			assert.Equal(t, want, parseCache(built, c.hwcaps))
		})
	}
	want["libcaps.so"] = "/l/plain"
	for entries := range 4 {
		old := append([]byte(oldMagic), 0)
		old = binary.LittleEndian.AppendUint32(old, uint32(entries))
		old = append(old, make([]byte, (entries*oldEntrySize+7)&^7)...)
		assert.Equal(t, want, parseCache(append(old, built...), nil), "behind an old cache of %d", entries)
	}
}

func TestCacheLeavesOutLongPaths(t *testing.T) {
	long := "/" + strings.Repeat("x", maxName)
	assert.Empty(t, parseCache(buildCache([]entry{{"libx.so", long, "", flagX8664Libc}}, nil), nil))
}

func TestParseBrokenCache(t *testing.T) {
	bigEndianCache := append([]byte(nil), built...)
	bigEndianCache[28] = bigEndian
	for name, data := range map[string][]byte{
		"empty":      nil,
		"text":       []byte("not a cache, but longer than the header of one, as far as one can see"),
		"header":     built[:newHeader-1],
		"old only":   append([]byte(oldMagic), 0, 255, 255, 255, 255),
		"big endian": bigEndianCache,
	} {
		assert.Empty(t, parseCache(data, nil), name)
	}
	for n := range built {
		for name, path := range parseCache(built[:n:n], builtHwcaps) {
			require.NotEmpty(t, name)
			require.NotEmpty(t, path)
		}
	}
}

// TestCacheAgainstLdconfig compares this machine's cache with ldconfig's view.
func TestCacheAgainstLdconfig(t *testing.T) {
	t.Setenv("PATH", os.Getenv("PATH")+":/sbin:/usr/sbin")
	testsupport.Require(t, "ldconfig")
	data, err := os.ReadFile(cacheFile)
	if err != nil {
		t.Skip("no ld.so.cache")
	}
	stdout, _, code := testsupport.Run(t, limit, nil, "ldconfig", "-p")
	require.Zero(t, code)
	want := cache{}
	for _, m := range ldconfigLine.FindAllStringSubmatch(stdout, -1) {
		if _, seen := want[m[1]]; !seen {
			want[m[1]] = m[2]
		}
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, parseCache(data, nil))
}

func TestCacheIsReadOnce(t *testing.T) {
	p := New("")
	first := p.cache()
	assert.NotEmpty(t, first)
	first["mark"] = "/mark"
	assert.Equal(t, "/mark", p.cache()["mark"])
}

// FuzzCache: whatever the file holds, entries that are found have a name and a
// path, and no more are found than there are.
func FuzzCache(f *testing.F) {
	f.Add(built)
	f.Add(append(append([]byte(oldMagic), 0, 0, 0, 0, 0), built...))
	f.Fuzz(func(t *testing.T, data []byte) {
		found := parseCache(data, builtHwcaps)
		if len(found) > len(data)/newEntrySize {
			t.Fatalf("%d entries from %d bytes", len(found), len(data))
		}
		for name, path := range found {
			if name == "" || path == "" || len(path) > maxName {
				t.Fatalf("%q => %q", name, path)
			}
		}
	})
}
