// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

var libraryFlags = []string{
	"-shared", "-fPIC", "-Wl,-soname,liblibrary.so.3", "-Wl,-rpath,/nowhere:$ORIGIN/x",
	"-Wl,--version-script,testdata/library.map", "-Wl,-z,noseparate-code", "-Wl,-z,max-page-size=4096",
}

// library compiles testdata/library.c, the fixture that has everything.
func library(t testing.TB, flags ...string) string {
	return testsupport.CC(t, "gcc", "testdata/library.c", slices.Concat(libraryFlags, flags)...)
}

func open(t testing.TB, path string) *Image {
	t.Helper()
	m, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

// fixtures returns files of every kind by name: built ones and Debian's.
func fixtures(t testing.TB) map[string]string {
	paths := map[string]string{
		"gnu hash":     library(t, "-Wl,--hash-style=gnu"),
		"sysv hash":    library(t, "-Wl,--hash-style=sysv"),
		"both hashes":  library(t, "-Wl,--hash-style=both"),
		"packed":       library(t, "-Wl,-z,pack-relative-relocs"),
		"unversioned":  testsupport.CC(t, "gcc", "testdata/counters.c", "-shared", "-fPIC"),
		"PIE":          testsupport.CC(t, "gcc", "testdata/program.c", "-fPIE", "-pie"),
		"fixed":        testsupport.CC(t, "gcc", "testdata/program.c", "-fno-pie", "-no-pie", "-z", "execstack"),
		"static":       testsupport.CC(t, "gcc", "testdata/program.c", "-fno-pie", "-static"),
		"static PIE":   testsupport.CC(t, "gcc", "testdata/program.c", "-fPIE", "-static-pie"),
		"libc":         "/lib/x86_64-linux-gnu/libc.so.6",
		"dynamic link": "/lib64/ld-linux-x86-64.so.2",
	}
	if found, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/lib*mpich*.so.12"); len(found) > 0 {
		for _, path := range found {
			paths[filepath.Base(path)] = path
		}
	}
	return paths
}

// file is the bytes of an ELF file to break.
type file struct {
	t testing.TB
	b []byte
	m *Image // as it was before
}

func load(t testing.TB, path string) *file {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	m, err := Parse(path, slices.Clone(b))
	require.NoError(t, err)
	return &file{t: t, b: b, m: m}
}

func (f *file) put16(at uint64, v uint16) { binary.LittleEndian.PutUint16(f.b[at:], v) }
func (f *file) put32(at uint64, v uint32) { binary.LittleEndian.PutUint32(f.b[at:], v) }
func (f *file) put64(at uint64, v uint64) { binary.LittleEndian.PutUint64(f.b[at:], v) }
func (f *file) get64(at uint64) uint64    { return binary.LittleEndian.Uint64(f.b[at:]) }

// at returns the file offset of an address.
func (f *file) at(vaddr uint64) uint64 {
	f.t.Helper()
	l := f.m.load(vaddr)
	require.NotNil(f.t, l)
	return l.Offset + vaddr - l.Vaddr
}

// phdr returns the file offset of the n-th program header of a type.
func (f *file) phdr(kind elf.ProgType, n int) uint64 {
	f.t.Helper()
	for at := f.get64(32); ; at += phdrSize {
		if binary.LittleEndian.Uint32(f.b[at:]) != uint32(kind) {
			continue
		}
		if n--; n < 0 {
			return at
		}
	}
}

// dyn returns the file offset of the entry of the dynamic section with a tag.
func (f *file) dyn(tag elf.DynTag) uint64 {
	f.t.Helper()
	at, end := f.at(f.m.Dynamic.Vaddr), f.at(f.m.Dynamic.Vaddr)+f.m.Dynamic.Size
	for ; at < end; at += dynSize {
		if f.get64(at) == uint64(tag) {
			return at
		}
	}
	f.t.Fatalf("no %v", tag)
	return 0
}

// value returns what the dynamic section says for a tag.
func (f *file) value(tag elf.DynTag) uint64 {
	f.t.Helper()
	return f.get64(f.dyn(tag) + 8)
}

// set changes the value of a tag; drop makes it one that nobody reads.
func (f *file) set(tag elf.DynTag, v uint64) { f.t.Helper(); f.put64(f.dyn(tag)+8, v) }
func (f *file) drop(tag elf.DynTag)          { f.t.Helper(); f.put64(f.dyn(tag), uint64(elf.DT_DEBUG)) }
