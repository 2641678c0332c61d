// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

// TestLookupVersions holds for each way of finding symbols.
func TestLookupVersions(t *testing.T) {
	linear := load(t, library(t, "-Wl,--hash-style=gnu"))
	linear.drop(elf.DT_GNU_HASH)
	unhashed, err := Parse("unhashed", linear.b)
	require.NoError(t, err)
	for name, m := range map[string]*Image{
		"gnu":  open(t, library(t, "-Wl,--hash-style=gnu")),
		"sysv": open(t, library(t, "-Wl,--hash-style=sysv")),
		"none": unhashed,
	} {
		t.Run(name, func(t *testing.T) { lookupVersions(t, m) })
	}
}

func lookupVersions(t *testing.T, m *Image) {
	for _, c := range []struct {
		name, version string
		want          string // the version found; "-": nothing is
		hidden        bool
	}{
		{"versioned", "", "V2", false},
		{"versioned", "V1", "V1", true},
		{"versioned", "V2", "V2", false},
		{"versioned", "V3", "-", false},
		{"retired", "V1", "V1", true},
		{"retired", "", "-", false},
		{"chosen", "", "V2", false},
		{"chosen", "V1", "-", false},
		{"thread_value", "V2", "V2", false},
		{"unique", "", "V2", false},
		{"V1", "", "V1", false}, // the version's own symbol, absolute and 0
		{"hidden_value", "", "-", false},
		{"getenv", "", "-", false}, // a reference
		{"use\x00pointers", "", "-", false},
		{"us", "", "-", false},
		{"user", "", "-", false},
		{"", "", "-", false},
	} {
		if b, ok := m.Bind(c.name, c.version); c.version != "" {
			l, found := m.Lookup(c.name, c.version)
			assert.Equal(t, found, ok)
			assert.Equal(t, l, b)
		}
		s, ok := m.Lookup(c.name, c.version)
		if !assert.Equal(t, c.want != "-", ok, "%s@%s", c.name, c.version) || !ok {
			continue
		}
		assert.Equal(t, c.name, s.Name)
		assert.Equal(t, c.want, s.Version, "%s@%s", c.name, c.version)
		assert.Equal(t, c.hidden, s.Hidden, "%s@%s", c.name, c.version)
		assert.True(t, s.Defined())
	}
	for name, want := range map[string]string{"versioned": "V1", "retired": "V1", "chosen": "V2"} {
		s, ok := m.Bind(name, "")
		assert.True(t, ok, name)
		assert.Equal(t, want, s.Version, name)
	}
	_, ok := m.Bind("getenv", "")
	assert.False(t, ok)
	chosen, _ := m.Lookup("chosen", "")
	assert.Equal(t, elf.STT_GNU_IFUNC, chosen.Type)
	unique, _ := m.Lookup("unique", "")
	assert.Equal(t, stbGNUUnique, unique.Bind)
	tls, _ := m.Lookup("thread_value", "")
	assert.Equal(t, elf.STT_TLS, tls.Type)
}

// An object that was linked before its symbols got versions serves those who
// want one.
func TestLookupInUnversioned(t *testing.T) {
	m := open(t, testsupport.CC(t, "gcc", "testdata/counters.c", "-shared", "-fPIC"))
	for _, version := range []string{"", "V9"} {
		s, ok := m.Lookup("counter", version)
		assert.True(t, ok, version)
		assert.Empty(t, s.Version)
		assert.Equal(t, elf.STT_OBJECT, s.Type)
	}
	_, ok := m.Lookup("getenv", "")
	assert.False(t, ok)
}

// Two default versions: without a wish neither is meant.
func TestLookupAmbiguous(t *testing.T) {
	f := load(t, library(t, "-Wl,--hash-style=gnu"))
	for i := uint32(1); ; i++ {
		s, err := f.m.Symbol(i)
		require.NoError(t, err)
		if s.Name == "versioned" && s.Hidden {
			at := f.at(f.m.VersymVaddr) + 2*uint64(i)
			f.b[at+1] &^= 0x80
			break
		}
	}
	m, err := Parse("ambiguous", f.b)
	require.NoError(t, err)
	_, ok := m.Lookup("versioned", "")
	assert.False(t, ok)
	s, ok := m.Lookup("versioned", "V1")
	assert.True(t, ok)
	assert.False(t, s.Hidden)
}

// symbol returns the index of a definition.
func (f *file) symbol(name string) uint32 {
	f.t.Helper()
	for i := range f.m.SymbolCount {
		if s, err := f.m.Symbol(i); err == nil && s.Name == name && s.Defined() {
			return i
		}
	}
	f.t.Fatalf("no symbol %s", name)
	return 0
}

func TestLookupLocalSymbols(t *testing.T) {
	path := library(t)
	for name, change := range map[string]func(sym []byte){
		"hidden":      func(b []byte) { b[5] = byte(elf.STV_HIDDEN) },
		"internal":    func(b []byte) { b[5] = byte(elf.STV_INTERNAL) },
		"local":       func(b []byte) { b[4] &= 0xf },
		"section":     func(b []byte) { b[4] = b[4]&0xf0 | byte(elf.STT_SECTION) },
		"at zero":     func(b []byte) { clear(b[8:16]) },
		"undefined":   func(b []byte) { clear(b[6:8]) },
		"odd binding": func(b []byte) { b[4] = b[4]&0xf | byte(elf.STB_HIPROC)<<4 },
	} {
		f := load(t, path)
		change(f.b[f.at(f.m.SymtabVaddr)+symSize*uint64(f.symbol("use")):])
		m, err := Parse("local", f.b)
		require.NoError(t, err, name)
		_, ok := m.Lookup("use", "")
		assert.False(t, ok, name)
		for s := range m.Exports() {
			assert.NotEqual(t, "use", s.Name, name)
		}
	}
}

// The version that names the file itself is none.
func TestBaseVersion(t *testing.T) {
	f := load(t, library(t))
	f.put16(f.at(f.m.VerdefVaddr)+4, 9) // vd_ndx
	f.put16(f.at(f.m.VersymVaddr)+2*uint64(f.symbol("use")), 9)
	m, err := Parse("base", f.b)
	require.NoError(t, err)
	for _, version := range []string{"", "V1", "V2"} {
		s, ok := m.Lookup("use", version)
		assert.True(t, ok, version)
		assert.Empty(t, s.Version)
	}
	assert.True(t, m.DefinesVersion("liblibrary.so.3"))
}

func TestReferencesHaveLibraries(t *testing.T) {
	m := open(t, library(t))
	for i := uint32(1); ; i++ {
		s, err := m.Symbol(i)
		require.NoError(t, err)
		if s.Name == "getenv" {
			assert.False(t, s.Defined())
			assert.Equal(t, "libc.so.6", s.Library)
			assert.Equal(t, "GLIBC_2.2.5", s.Version)
			break
		}
	}
	assert.Contains(t, m.NeededVersions(), NeededVersion{Library: "libc.so.6", Version: "GLIBC_2.2.5"})
	assert.True(t, m.DefinesVersion("V1"))
	assert.True(t, m.DefinesVersion("V2"))
	assert.False(t, m.DefinesVersion("GLIBC_2.2.5"))
}

func TestExportsStops(t *testing.T) {
	n := 0
	for range open(t, library(t)).Exports() {
		n++
		break
	}
	assert.Equal(t, 1, n)
}

// TestPacked holds DT_RELR against the table of pointers that it relocates.
func TestPacked(t *testing.T) {
	plain, packed := open(t, library(t)), open(t, library(t, "-Wl,-z,pack-relative-relocs"))
	count := func(m *Image) (n int) {
		relocs, err := m.Relocs()
		require.NoError(t, err)
		for _, r := range relocs {
			if r.Type == elf.R_X86_64_RELATIVE {
				n++
			}
		}
		return n
	}
	require.NotZero(t, packed.relr.Size)
	require.Zero(t, plain.relr.Size)
	assert.Equal(t, count(plain), count(packed))

	for name, m := range map[string]*Image{"plain": plain, "packed": packed} {
		pointers, ok := m.Lookup("pointers", "")
		require.True(t, ok)
		target, ok := m.Lookup("target", "")
		require.True(t, ok)
		relocs, err := m.Relocs()
		require.NoError(t, err)
		have := map[uint64]int64{}
		for _, r := range relocs {
			have[r.Offset] = r.Addend
		}
		for i := range uint64(100) {
			assert.Equal(t, int64(target.Value+4*i), have[pointers.Value+8*i], "%s %d", name, i)
		}
	}
}
