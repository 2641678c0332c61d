// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func TestLibraryFields(t *testing.T) {
	m := open(t, library(t))
	assert.Equal(t, elf.ET_DYN, m.Type)
	assert.Equal(t, "liblibrary.so.3", m.Soname)
	assert.Equal(t, []string{"libc.so.6", "ld-linux-x86-64.so.2"}, m.Needed)
	assert.Equal(t, "/nowhere:$ORIGIN/x", m.Runpath)
	assert.Empty(t, m.Rpath)
	assert.Empty(t, m.Interp)
	assert.False(t, m.ExecStack)
	assert.False(t, m.TextRel)
	assert.False(t, m.Symbolic)
	assert.Equal(t, uint64(4), m.TLS.Filesz)
	assert.Equal(t, TLS{Vaddr: m.TLS.Vaddr, Filesz: 4, Memsz: m.TLS.Memsz, Align: m.TLS.Align}, m.TLS)
	assert.GreaterOrEqual(t, m.TLS.Memsz, uint64(104))
	assert.Equal(t, uint64(16), m.InitArray.Size) // frame_dummy and begin
	assert.Equal(t, uint64(16), m.FiniArray.Size)

	span := m.Span()
	last := m.Loads[len(m.Loads)-1]
	assert.Zero(t, span.Vaddr)
	assert.Zero(t, span.Size%pageSize)
	assert.GreaterOrEqual(t, span.Size, last.Vaddr+last.Memsz)
	assert.Less(t, span.Size, last.Vaddr+last.Memsz+pageSize)
}

func TestFlagsOfLinker(t *testing.T) {
	old := open(t, library(t, "-Wl,-Bsymbolic", "-Wl,--disable-new-dtags"))
	assert.True(t, old.Symbolic)
	assert.Zero(t, old.Flags)
	assert.Equal(t, "/nowhere:$ORIGIN/x", old.Rpath)
	assert.Empty(t, old.Runpath)

	m := open(t, library(t, "-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,-z,execstack"))
	assert.True(t, m.Symbolic)
	assert.True(t, m.ExecStack)
	assert.Equal(t, elf.DF_SYMBOLIC|elf.DF_BIND_NOW, elf.DynFlag(m.Flags)&(elf.DF_SYMBOLIC|elf.DF_BIND_NOW))
	assert.NotZero(t, elf.DynFlag1(m.Flags1)&elf.DF_1_NOW)
}

// DT_FLAGS says what older tags say too; either is enough.
func TestFlagsWithoutOldTags(t *testing.T) {
	f := load(t, library(t, "-Wl,-Bsymbolic"))
	f.drop(elf.DT_SYMBOLIC)
	f.set(elf.DT_FLAGS, uint64(elf.DF_SYMBOLIC|elf.DF_TEXTREL))
	m, err := Parse("flags", f.b)
	require.NoError(t, err)
	assert.True(t, m.Symbolic)
	assert.True(t, m.TextRel)
}

func TestOpenIdentifies(t *testing.T) {
	path := library(t)
	m := open(t, path)
	var st syscall.Stat_t
	require.NoError(t, syscall.Stat(path, &st))
	assert.Equal(t, FileID{st.Dev, st.Ino, st.Size, st.Mtim.Sec, st.Mtim.Nsec}, m.ID)
	assert.Equal(t, path, m.Path)
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for name, c := range map[string]struct {
		path string
		want error
		text string
	}{
		"missing":   {filepath.Join(dir, "missing"), fs.ErrNotExist, "missing: no such file"},
		"directory": {dir, nil, "not a regular file"},
		"pipe":      {pipe, nil, "not a regular file"},
		"empty":     {write("empty", ""), ErrNotELF, "empty: not an ELF file"},
		"script":    {write("script", "#!/bin/sh\n"), ErrNotELF, "script: not an ELF file"},
		"short":     {write("short", "\x7fELF\x02\x01\x01"), ErrTruncated, "ELF header: file too short"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Open(c.path)
			require.Error(t, err)
			assert.Nil(t, m)
			assert.ErrorContains(t, err, c.text)
			if c.want != nil {
				assert.ErrorIs(t, err, c.want)
			}
		})
	}
}

func TestCloseUnmaps(t *testing.T) {
	path := library(t)
	mapped := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		require.NoError(t, err)
		return strings.Count(string(maps), path)
	}
	m, err := Open(path)
	require.NoError(t, err)
	require.Equal(t, 1, mapped())
	before, ok := m.Lookup("use", "V2")
	require.True(t, ok)
	bytes, err := m.Bytes(before.Value, 4)
	require.NoError(t, err)

	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	assert.Zero(t, mapped())
	assert.Equal(t, "use", before.Name)
	assert.Len(t, append([]byte(nil), bytes...), 4)
	assert.Equal(t, "liblibrary.so.3", m.Soname)

	_, ok = m.Lookup("use", "V2")
	assert.False(t, ok)
	_, err = m.Symbol(1)
	require.Error(t, err)
	_, err = m.Relocs()
	require.ErrorIs(t, err, os.ErrClosed)
	_, err = m.Bytes(before.Value, 4)
	require.ErrorIs(t, err, os.ErrClosed)
}

func TestBytes(t *testing.T) {
	m := open(t, library(t))
	tls, err := m.Bytes(m.TLS.Vaddr, m.TLS.Filesz)
	require.NoError(t, err)
	assert.Equal(t, []byte{7, 0, 0, 0}, tls)

	zeros, ok := m.Lookup("zeros", "")
	require.True(t, ok)
	all, err := m.Bytes(zeros.Value, zeros.Size)
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 10000), all)

	last := m.Loads[len(m.Loads)-1]
	require.Greater(t, last.Memsz, last.Filesz)
	across, err := m.Bytes(last.Vaddr, last.Memsz)
	require.NoError(t, err)
	assert.Len(t, across, int(last.Memsz))
	assert.Equal(t, make([]byte, last.Memsz-last.Filesz), across[last.Filesz:])
	assert.NotEqual(t, make([]byte, last.Filesz), across[:last.Filesz])

	none, err := m.Bytes(last.Vaddr, 0)
	require.NoError(t, err)
	assert.Empty(t, none)
	for name, r := range map[string]Range{
		"behind the end": {last.Vaddr, last.Memsz + 1},
		"no segment":     {last.Vaddr + last.Memsz, 1},
		"wraps":          {last.Vaddr, ^uint64(0)},
		"far":            {1 << 63, 8},
	} {
		_, err := m.Bytes(r.Vaddr, r.Size)
		assert.ErrorIs(t, err, errOutside, name)
	}
}

func TestBytesLimitsZeros(t *testing.T) {
	f := load(t, library(t))
	last := len(f.m.Loads) - 1
	f.put64(f.phdr(elf.PT_LOAD, last)+40, 1<<40) // p_memsz
	m, err := Parse("huge", f.b)
	require.NoError(t, err)
	_, err = m.Bytes(m.Loads[last].Vaddr, 1<<39)
	assert.ErrorContains(t, err, "too many zeros")
}

// TestMPICH states what is known of Debian's libmpich 4.0.2.
func TestMPICH(t *testing.T) {
	const path = "/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.2"
	if _, err := os.Stat(path); err != nil {
		t.Skip("libmpich12 4.0.2 is not installed")
	}
	m := open(t, path)
	relocs, err := m.Relocs()
	require.NoError(t, err)
	count := map[elf.R_X86_64]int{}
	for _, r := range relocs {
		count[r.Type]++
	}
	assert.Equal(t, map[elf.R_X86_64]int{
		elf.R_X86_64_RELATIVE: 20940, elf.R_X86_64_JMP_SLOT: 385, elf.R_X86_64_GLOB_DAT: 24,
		elf.R_X86_64_64: 2, elf.R_X86_64_DTPMOD64: 2,
	}, count)
	assert.Equal(t, uint64(16), m.TLS.Memsz)
	functions := 0
	for s := range m.Exports() {
		if s.Type == elf.STT_FUNC {
			functions++
		}
	}
	assert.Equal(t, 1288, functions)
	send, ok := m.Lookup("MPI_Send", "")
	assert.True(t, ok)
	assert.NotZero(t, send.Value)
}

func TestTextRelocations(t *testing.T) {
	src := filepath.Join(t.TempDir(), "text.s")
	require.NoError(t, os.WriteFile(src, []byte(".text\n.globl f\nf: .quad f\n.section .note.GNU-stack,\"\",@progbits\n"), 0o600))
	m := open(t, testsupport.CC(t, "gcc", src, "-shared", "-nostdlib", "-Wl,-z,notext"))
	assert.True(t, m.TextRel)
	relocs, err := m.Relocs()
	require.NoError(t, err)
	assert.Len(t, relocs, 1)
}
