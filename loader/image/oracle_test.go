// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAgainstDebugELF compares what debug/elf knows too, by section headers.
func TestAgainstDebugELF(t *testing.T) {
	for name, path := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			m := open(t, path)
			f, err := elf.Open(path)
			require.NoError(t, err)
			defer f.Close()

			assert.Equal(t, f.Type, m.Type)
			assert.Equal(t, f.Entry, m.Entry)
			assert.Len(t, f.Progs, m.Phnum)
			compareSegments(t, f, m)
			if f.Section(".dynamic") == nil {
				assert.Zero(t, m.Dynamic)
				return
			}
			compareDynamic(t, f, m)
			compareVersions(t, f, m)
			compareSymbols(t, f, m)
			compareRelocs(t, f, m)
		})
	}
}

func compareSegments(t *testing.T, f *elf.File, m *Image) {
	var loads []Load
	var tls TLS
	ranges := map[elf.ProgType]Range{}
	var phdr uint64
	for _, p := range f.Progs {
		ranges[p.Type] = Range{p.Vaddr, p.Memsz}
		switch p.Type {
		case elf.PT_LOAD:
			loads = append(loads, Load{p.Vaddr, p.Off, p.Filesz, p.Memsz, p.Flags, p.Align})
		case elf.PT_TLS:
			tls = TLS{p.Vaddr, p.Filesz, p.Memsz, p.Align}
		case elf.PT_INTERP:
			b := make([]byte, p.Filesz-1)
			_, err := p.ReadAt(b, 0)
			require.NoError(t, err)
			assert.Equal(t, string(b), m.Interp)
		case elf.PT_GNU_STACK:
			assert.Equal(t, p.Flags&elf.PF_X != 0, m.ExecStack)
		case elf.PT_PHDR:
			phdr = p.Vaddr
		}
	}
	assert.Equal(t, loads, m.Loads)
	assert.Equal(t, tls, m.TLS)
	assert.Equal(t, ranges[elf.PT_GNU_RELRO], m.Relro)
	assert.Equal(t, ranges[elf.PT_GNU_EH_FRAME], m.EHFrameHdr)
	assert.Equal(t, ranges[elf.PT_DYNAMIC], m.Dynamic)
	if phdr != 0 {
		assert.Equal(t, phdr, m.PhdrVaddr)
	}
	assert.NotZero(t, m.PhdrVaddr)
}

func compareDynamic(t *testing.T, f *elf.File, m *Image) {
	one := func(tag elf.DynTag) string {
		s, err := f.DynString(tag)
		require.NoError(t, err)
		return append(s, "")[0]
	}
	needed, err := f.ImportedLibraries()
	require.NoError(t, err)
	assert.Equal(t, needed, m.Needed)
	assert.Equal(t, one(elf.DT_SONAME), m.Soname)
	assert.Equal(t, one(elf.DT_RPATH), m.Rpath)
	assert.Equal(t, one(elf.DT_RUNPATH), m.Runpath)

	number := func(tag elf.DynTag) uint64 {
		v, err := f.DynValue(tag)
		require.NoError(t, err)
		return append(v, 0)[0]
	}
	for tag, have := range map[elf.DynTag]uint64{
		elf.DT_FLAGS: m.Flags, elf.DT_FLAGS_1: m.Flags1, elf.DT_INIT: m.Init, elf.DT_FINI: m.Fini,
		elf.DT_INIT_ARRAY: m.InitArray.Vaddr, elf.DT_INIT_ARRAYSZ: m.InitArray.Size,
		elf.DT_FINI_ARRAY: m.FiniArray.Vaddr, elf.DT_FINI_ARRAYSZ: m.FiniArray.Size,
		elf.DT_SYMTAB: m.SymtabVaddr, elf.DT_STRTAB: m.StrtabVaddr, elf.DT_STRSZ: m.StrtabSize,
		elf.DT_GNU_HASH: m.GNUHashVaddr, elf.DT_HASH: m.SysVHashVaddr,
		elf.DT_VERSYM: m.VersymVaddr, elf.DT_VERDEF: m.VerdefVaddr, elf.DT_VERDEFNUM: uint64(m.VerdefNum),
	} {
		assert.Equal(t, number(tag), have, tag)
	}
}

func compareVersions(t *testing.T, f *elf.File, m *Image) {
	var want []NeededVersion
	if f.Section(".gnu.version") == nil {
		assert.Empty(t, m.NeededVersions()) // for which debug/elf has an error
		return
	}
	needs, err := f.DynamicVersionNeeds()
	require.NoError(t, err)
	for _, n := range needs {
		for _, v := range n.Needs {
			want = append(want, NeededVersion{n.Name, v.Dep, v.Flags&elf.VER_FLG_WEAK != 0})
		}
	}
	assert.ElementsMatch(t, want, m.NeededVersions())

	defs, err := f.DynamicVersions()
	require.NoError(t, err)
	for _, d := range defs {
		assert.True(t, m.DefinesVersion(d.Name), d.Name)
	}
	assert.False(t, m.DefinesVersion("NO_SUCH"))
	assert.False(t, m.DefinesVersion(""))
}

func compareSymbols(t *testing.T, f *elf.File, m *Image) {
	symbols, err := f.DynamicSymbols()
	require.NoError(t, err)
	exported := 0
	for i, s := range symbols {
		want := Symbol{
			Name: s.Name, Version: s.Version, Library: s.Library, Hidden: s.VersionIndex.IsHidden(),
			Value: s.Value, Size: s.Size, Section: s.Section,
			Type: elf.ST_TYPE(s.Info), Bind: elf.ST_BIND(s.Info), Visibility: elf.ST_VISIBILITY(s.Other),
		}
		have, err := m.Symbol(uint32(i) + 1)
		require.NoError(t, err)
		require.Equal(t, want, have)
		if !want.Defined() || want.Bind == elf.STB_LOCAL {
			continue
		}
		exported++
		found, ok := m.Lookup(want.Name, want.Version)
		require.True(t, ok, want)
		require.Equal(t, want, found)
	}
	n := 0
	for range m.Exports() {
		n++
	}
	assert.Equal(t, exported, n)
	first, err := m.Symbol(0)
	require.NoError(t, err)
	assert.Equal(t, Symbol{}, first)
}

// compareRelocs holds DT_RELA and DT_JMPREL against the sections that are loaded.
func compareRelocs(t *testing.T, f *elf.File, m *Image) {
	var want []Reloc
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		for r := s.Open(); ; {
			var e elf.Rela64
			if binary.Read(r, binary.LittleEndian, &e) != nil {
				break
			}
			want = append(want, Reloc{e.Off, elf.R_X86_64(elf.R_TYPE64(e.Info)), elf.R_SYM64(e.Info), e.Addend})
		}
	}
	have, err := m.Relocs()
	require.NoError(t, err)
	packed := len(have) - len(want)
	require.GreaterOrEqual(t, packed, 0)
	assert.Equal(t, f.SectionByType(shtRELR) != nil, packed > 0)
	assert.Equal(t, want, have[packed:])
}

// shtRELR is SHT_RELR of the gABI; debug/elf does not name it.
const shtRELR elf.SectionType = 19
