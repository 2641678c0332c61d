// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"debug/elf"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

type malformed struct {
	name   string
	damage func(f *file)
	text   string // part of the message
	is     error  // or nil
}

// Offsets of fields in Ehdr and Phdr are those of elf(5).
var malformedHeaders = []malformed{
	{"magic", func(f *file) { f.b[1] = 'e' }, "parse bad: not an ELF file", ErrNotELF},
	{"class", func(f *file) { f.b[4] = 1 }, "ELFCLASS32", ErrMachine},
	{"byte order", func(f *file) { f.b[5], f.b[18], f.b[19] = 2, 0, 62 }, "EM_X86_64, ELFCLASS64, ELFDATA2MSB", ErrMachine},
	{"machine", func(f *file) { f.put16(18, uint16(elf.EM_AARCH64)) }, "EM_AARCH64", ErrMachine},
	{"version", func(f *file) { f.put32(20, 2) }, "e_version 2", nil},
	{"type", func(f *file) { f.put16(16, uint16(elf.ET_REL)) }, "e_type ET_REL", ErrType},
	{"core", func(f *file) { f.put16(16, uint16(elf.ET_CORE)) }, "e_type ET_CORE", ErrType},
	{"entry size", func(f *file) { f.put16(54, 57) }, "e_phentsize 57, not 56", nil},
	{"far program headers", func(f *file) { f.put64(32, 1<<63) }, "e_phoff 0x8000000000000000", ErrTruncated},
	{"many program headers", func(f *file) { f.put16(56, 0xfffe) }, "e_phnum 65534", ErrTruncated},
	{"uncounted program headers", func(f *file) { f.put16(56, 0xffff) }, "too many program headers", nil},
	{"no program headers", func(f *file) { f.put16(56, 0) }, "no PT_LOAD", nil},
}

var malformedSegments = []malformed{
	{"load without alignment", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 0)+48, 4095) },
		"p_align 0xfff is not a power of two", nil},
	{"file above memory", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 1)+40, 1) }, "above p_memsz 0x1", nil},
	{"load behind the file", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 1)+8, 1<<40) }, "(PT_LOAD): p_offset", ErrTruncated},
	{"load wraps the file", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 1)+8, ^uint64(0xfff)) }, "(PT_LOAD): p_offset", ErrTruncated},
	{"load wraps memory", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 1)+40, ^uint64(0)) }, "beyond the address space", nil},
	{"load ends in the kernel", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 1)+16, 1<<47-4096) }, "beyond the address space", nil},
	{"load not congruent", func(f *file) { at := f.phdr(elf.PT_LOAD, 1) + 16; f.put64(at, f.get64(at)+8) }, "modulo p_align", nil},
	{"loads overlap", func(f *file) { f.put64(f.phdr(elf.PT_LOAD, 0)+40, 1<<20) }, "is not behind the pages", nil},
	{"loads out of order", swapLoads, "is not behind the pages", nil},
	{"TLS without alignment", func(f *file) { f.put64(f.phdr(elf.PT_TLS, 0)+48, 3) }, "(PT_TLS): p_align", nil},
	{"TLS file above memory", func(f *file) { f.put64(f.phdr(elf.PT_TLS, 0)+40, 1) }, "(PT_TLS): p_filesz", nil},
	{"TLS wraps", func(f *file) { f.put64(f.phdr(elf.PT_TLS, 0)+40, ^uint64(0)) }, "(PT_TLS): p_vaddr", nil},
	{"TLS outside", func(f *file) { f.put64(f.phdr(elf.PT_TLS, 0)+16, 1<<40) }, "(PT_TLS)", errOutside},
	{"RELRO outside", func(f *file) { f.put64(f.phdr(elf.PT_GNU_RELRO, 0)+40, 1<<40) }, "(PT_GNU_RELRO)", errOutside},
	{"frame header outside", func(f *file) { f.put64(f.phdr(elf.PT_GNU_EH_FRAME, 0)+16, 1<<40) }, "(PT_GNU_EH_FRAME)", errOutside},
	{"dynamic outside", func(f *file) { f.put64(f.phdr(elf.PT_DYNAMIC, 0)+16, 1<<40) }, "(PT_DYNAMIC)", errOutside},
	{"dynamic too long", func(f *file) { f.put64(f.phdr(elf.PT_DYNAMIC, 0)+40, 1<<30) }, "(PT_DYNAMIC)", errOutside},
	{"dynamic does not end", func(f *file) { f.put64(f.phdr(elf.PT_DYNAMIC, 0)+40, 64) }, "dynamic section: no DT_NULL", nil},
	{"interpreter behind the file", func(f *file) { interp(f, uint64(len(f.b)), 9) }, "(PT_INTERP)", ErrTruncated},
	{"interpreter does not end", func(f *file) { interp(f, 0, 4) }, "path does not end", nil},
}

var malformedDynamic = []malformed{
	{"string table outside", func(f *file) { f.set(elf.DT_STRTAB, 1<<40) }, "dynamic section: DT_STRTAB", errOutside},
	{"string table too long", func(f *file) { f.set(elf.DT_STRSZ, 1<<40) }, "DT_STRTAB", errOutside},
	{"string table without size", func(f *file) { f.drop(elf.DT_STRSZ) }, "DT_STRTAB: the table's 0x0 bytes", nil},
	{"string table does not end", func(f *file) { f.set(elf.DT_STRSZ, f.value(elf.DT_STRSZ)-1) }, "do not end with NUL", nil},
	{"needed name outside", func(f *file) { f.set(elf.DT_NEEDED, 1<<40) }, "DT_NEEDED: name at 0x10000000000 outside", nil},
	{"soname outside", func(f *file) { f.set(elf.DT_SONAME, 1<<40) }, "DT_SONAME: name at", nil},
	{"runpath outside", func(f *file) { f.set(elf.DT_RUNPATH, 1<<40) }, "DT_RUNPATH: name at", nil},
	{"no string table", func(f *file) { f.drop(elf.DT_STRTAB) }, "DT_SONAME: name at", nil},
	{"init outside", func(f *file) { f.set(elf.DT_INIT, 1<<40) }, "DT_INIT 0x10000000000 outside the executable", nil},
	{"fini in data", func(f *file) { f.set(elf.DT_FINI, f.m.Dynamic.Vaddr) }, "DT_FINI", nil},
	{"half an init", func(f *file) { f.set(elf.DT_INIT_ARRAYSZ, 12) }, "DT_INIT_ARRAYSZ 0xc is no multiple of 8", nil},
	{"init array outside", func(f *file) { f.set(elf.DT_INIT_ARRAY, 1<<40) }, "DT_INIT_ARRAY:", errOutside},
	{"symbol table outside", func(f *file) { f.set(elf.DT_SYMTAB, 1<<40) }, "DT_SYMTAB", errOutside},
	{"symbol size", func(f *file) { f.set(elf.DT_SYMENT, 16) }, "DT_SYMENT 16, not 24", nil},
	{"symbol name outside", func(f *file) { f.put32(f.at(f.m.SymtabVaddr)+symSize, 1<<31) }, "DT_SYMTAB[1]: st_name 0x80000000 outside", nil},
	{"relocations outside", func(f *file) { f.set(elf.DT_RELA, 1<<40) }, "DT_RELA:", errOutside},
	{"relocations too many", func(f *file) { f.set(elf.DT_RELASZ, 24<<40) }, "DT_RELA:", errOutside},
	{"half a relocation", func(f *file) { f.set(elf.DT_RELASZ, 25) }, "DT_RELASZ 0x19 is no multiple of 24", nil},
	{"relocation size", func(f *file) { f.set(elf.DT_RELAENT, 16) }, "DT_RELAENT 16, not 24", nil},
	{"no addends", func(f *file) { f.put64(f.dyn(elf.DT_RELACOUNT), uint64(elf.DT_REL)) }, "DT_REL:", nil},
	{"PLT without addends", func(f *file) { f.set(elf.DT_PLTREL, uint64(elf.DT_REL)) }, "DT_PLTREL 17", nil},
	{"PLT relocations outside", func(f *file) { f.set(elf.DT_JMPREL, 1<<40) }, "DT_JMPREL:", errOutside},
}

var malformedTables = []malformed{
	{"versions outside", func(f *file) { f.set(elf.DT_VERSYM, 1<<40) }, "DT_VERSYM", errOutside},
	{"unknown version", func(f *file) { f.put16(f.at(f.m.VersymVaddr)+2, 99) }, "version index 99 is neither defined nor needed", nil},
	{"needs outside", func(f *file) { f.set(elf.DT_VERNEED, 1<<40) }, "DT_VERNEED", errOutside},
	{"needs too many", func(f *file) { f.set(elf.DT_VERNEEDNUM, 1<<40) }, "DT_VERNEED: 1099511627776 entries", nil},
	{"needs of another format", func(f *file) { f.put16(f.at(f.value(elf.DT_VERNEED)), 2) }, "vn_version 2", nil},
	{"needed file outside", func(f *file) { f.put32(f.at(f.value(elf.DT_VERNEED))+4, 1<<31) }, "vn_file: name at", nil},
	{"needed version outside", func(f *file) { f.put32(f.at(f.value(elf.DT_VERNEED))+16+8, 1<<31) }, "vna_name: name at", nil},
	{"need's versions outside", func(f *file) { f.put32(f.at(f.value(elf.DT_VERNEED))+8, 1<<31) }, "vn_aux of", errOutside},
	{"definitions outside", func(f *file) { f.set(elf.DT_VERDEF, 1<<40) }, "DT_VERDEF", errOutside},
	{"definitions too many", func(f *file) { f.set(elf.DT_VERDEFNUM, 1<<16) }, "DT_VERDEF: 65536 entries", nil},
	{"next definition outside", func(f *file) { f.put32(f.at(f.m.VerdefVaddr)+16, 1<<31) }, "DT_VERDEF: entry at", errOutside},
	{"definition of another format", func(f *file) { f.put16(f.at(f.m.VerdefVaddr), 0) }, "vd_version 0", nil},
	{"definition without a name", func(f *file) { f.put16(f.at(f.m.VerdefVaddr)+6, 0) }, "vd_cnt 0", nil},
	{"definition's name outside", func(f *file) { f.put32(f.at(f.m.VerdefVaddr)+20, 1<<31) }, "vda_name", nil},
	{"definition's names outside", func(f *file) { f.put32(f.at(f.m.VerdefVaddr)+12, 1<<31) }, "vd_aux", errOutside},
	{"GNU hash outside", func(f *file) { f.set(elf.DT_GNU_HASH, 1<<40) }, "DT_GNU_HASH", errOutside},
	{"GNU hash buckets", func(f *file) { f.put32(f.at(f.m.GNUHashVaddr), 1<<31) }, "DT_GNU_HASH: 2147483648 buckets", errOutside},
	{"GNU hash filter", func(f *file) { f.put32(f.at(f.m.GNUHashVaddr)+8, 3) }, "3 words of Bloom filter, not a power", nil},
	{"GNU hash without filter", func(f *file) { f.put32(f.at(f.m.GNUHashVaddr)+8, 0) }, "0 words of Bloom filter", nil},
	{"GNU hash first symbol", func(f *file) { f.put32(f.at(f.m.GNUHashVaddr)+4, 1<<31) }, "is below the first in the table", nil},
	{"GNU hash chain", func(f *file) { f.put32(firstBucket(f), 1<<30) }, "DT_GNU_HASH: the last chain does not end", nil},
	{"SysV hash outside", func(f *file) { f.set(elf.DT_HASH, 1<<40) }, "DT_HASH", errOutside},
	{"SysV hash buckets", func(f *file) { f.put32(f.at(f.m.SysVHashVaddr), 1<<31) }, "DT_HASH: 2147483648 buckets", errOutside},
	{"SysV hash symbols", func(f *file) { f.put32(f.at(f.m.SysVHashVaddr)+4, 1<<31) }, "2147483648 symbols", errOutside},
}

func swapLoads(f *file) {
	a, b := f.phdr(elf.PT_LOAD, 0), f.phdr(elf.PT_LOAD, 1)
	first := append([]byte(nil), f.b[a:a+phdrSize]...)
	copy(f.b[a:a+phdrSize], f.b[b:b+phdrSize])
	copy(f.b[b:b+phdrSize], first)
}

// interp makes PT_INTERP of a header that the image can do without.
func interp(f *file, offset, size uint64) {
	at := f.phdr(elf.PT_NOTE, 0)
	f.put32(at, uint32(elf.PT_INTERP))
	f.put64(at+8, offset)
	f.put64(at+32, size)
}

// firstBucket returns the file offset of the GNU hash table's first bucket.
func firstBucket(f *file) uint64 {
	at := f.at(f.m.GNUHashVaddr)
	return at + 16 + f.get64(at+8)&0xffffffff*8
}

func quick(t *testing.T, f func()) {
	t.Helper()
	takes(t, 100*time.Millisecond, f)
}

// takes requires that f takes less than a limit of its thread's processor time: others may
// use the machine, too.
func takes(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var now unix.Timespec
		require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
		return time.Duration(now.Nano())
	}
	before := used()
	f()
	require.Less(t, used()-before, limit)
}

func TestMalformed(t *testing.T) {
	path := library(t, "-Wl,--hash-style=both")
	for _, list := range [][]malformed{malformedHeaders, malformedSegments, malformedDynamic, malformedTables} {
		for _, c := range list {
			t.Run(c.name, func(t *testing.T) {
				f := load(t, path)
				c.damage(f)
				var m *Image
				var err error
				quick(t, func() { m, err = Parse("bad", f.b) })
				require.Error(t, err)
				assert.Nil(t, m)
				assert.ErrorContains(t, err, c.text)
				assert.ErrorContains(t, err, "parse bad: ")
				if c.is != nil {
					assert.ErrorIs(t, err, c.is)
				}
			})
		}
	}
}

// Relocs is where the entries of relocation tables are looked at.
func TestMalformedRelocations(t *testing.T) {
	path := library(t, "-Wl,-z,pack-relative-relocs")
	rela := func(f *file) uint64 { return f.at(f.value(elf.DT_RELA)) }
	relr := func(f *file) uint64 { return f.at(f.value(dtRELR)) }
	for _, c := range []malformed{
		{"outside", func(f *file) { f.put64(rela(f), 1<<40) }, "DT_RELA[0]: R_X86_64_", nil},
		{"in text", func(f *file) { f.put64(rela(f), f.m.Init) }, "outside the writable segments", nil},
		{"over the end", func(f *file) { f.put64(rela(f), end(f.m)-7) }, "8 bytes at", nil},
		{"descriptor over the end", func(f *file) {
			f.put64(rela(f), end(f.m)-8)
			f.put32(rela(f)+8, uint32(elf.R_X86_64_TLSDESC))
		}, "16 bytes at", nil},
		{"symbol", func(f *file) { f.put32(f.at(f.value(elf.DT_JMPREL))+12, 1<<31) }, "DT_JMPREL[0]: R_X86_64_JMP_SLOT: symbol 2147483648", nil},
		{"copy", func(f *file) {
			f.put32(rela(f)+8, uint32(elf.R_X86_64_COPY))
			f.put32(rela(f)+12, 1)
			f.put64(f.at(f.m.SymtabVaddr)+symSize+16, 1<<30)
		}, "R_X86_64_COPY: 1073741824 bytes", nil},
		{"packed outside", func(f *file) { f.put64(relr(f), 1<<40) }, "DT_RELR: [0]: 0x8 bytes at", errOutside},
		{"packed backwards", func(f *file) { f.put64(relr(f)+8, 8) }, "DT_RELR: [1]: address 0x8 is below", nil},
		{"packed in text", func(f *file) { f.put64(relr(f), f.m.Init) }, "DT_RELR: [0]: R_X86_64_RELATIVE: 8 bytes", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := load(t, path)
			c.damage(f)
			m, err := Parse("bad", f.b)
			require.NoError(t, err)
			var relocs []Reloc
			quick(t, func() { relocs, err = m.Relocs() })
			assert.Nil(t, relocs)
			require.ErrorContains(t, err, "read relocations of bad: ")
			require.ErrorContains(t, err, c.text)
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
			}
		})
	}
}

func end(m *Image) uint64 { return m.Loads[len(m.Loads)-1].end() }

// Some relocations write fewer than eight bytes, and NONE nothing anywhere.
func TestSmallRelocations(t *testing.T) {
	for kind, size := range map[elf.R_X86_64]uint64{
		elf.R_X86_64_32: 4, elf.R_X86_64_16: 2, elf.R_X86_64_8: 1, elf.R_X86_64_TLSDESC: 16, elf.R_X86_64_NONE: 0,
	} {
		f := load(t, library(t))
		at := f.at(f.value(elf.DT_RELA))
		f.put64(at, end(f.m)-size)
		f.put64(at+8, uint64(kind))
		m, err := Parse("small", f.b)
		require.NoError(t, err)
		_, err = m.Relocs()
		assert.NoError(t, err, kind)
	}
}

// Links of a SysV chain may form a circle; a lookup must come to an end.
func TestCircularChain(t *testing.T) {
	f := load(t, library(t, "-Wl,--hash-style=sysv"))
	at := f.at(f.m.SysVHashVaddr)
	nbucket, nchain := uint64(uint32(f.get64(at))), f.get64(at)>>32
	for i := range nbucket {
		f.put32(at+8+4*i, 1)
	}
	for i := range nchain {
		f.put32(at+8+4*(nbucket+i), 1)
	}
	m, err := Parse("circle", f.b)
	require.NoError(t, err)
	_, ok := m.Lookup("use", "")
	assert.False(t, ok)
}

// Linkers that count DT_JMPREL in DT_RELASZ too must not make us relocate twice.
func TestPLTInsideRela(t *testing.T) {
	f := load(t, library(t))
	want, err := f.m.Relocs()
	require.NoError(t, err)
	require.Equal(t, f.m.rela.end(), f.m.jmprel.Vaddr)
	f.set(elf.DT_RELASZ, f.m.rela.Size+f.m.jmprel.Size)
	m, err := Parse("both", f.b)
	require.NoError(t, err)
	have, err := m.Relocs()
	require.NoError(t, err)
	assert.Equal(t, want, have)
}

// As many names as there can be, all in one string of 16 MiB, must not take long:
// to look for the end of each would be 500 GB.
func TestLongNames(t *testing.T) {
	m := &Image{strtab: append(bytes.Repeat([]byte("a"), 1<<24), 0)}
	takes(t, 2*time.Second, func() {
		for i := range uint64(versionIndex) {
			_, err := m.str(i, maxPath)
			require.Error(t, err)
		}
	})
	for limit, ok := range map[int]bool{2: false, 3: true, 4: true} {
		name, err := m.str(1<<24-3, limit)
		assert.Equal(t, ok, err == nil, limit)
		assert.Equal(t, ok, name == "aaa", limit)
	}
}

// TestTruncated cuts the file inside and behind each header, and inside each load.
func TestTruncated(t *testing.T) {
	f := load(t, library(t))
	headers := uint64(ehdrSize + phdrSize*f.m.Phnum)
	var cuts []uint64
	for n := range headers + 1 {
		cuts = append(cuts, n)
	}
	for _, l := range f.m.Loads {
		cuts = append(cuts, l.Offset, l.Offset+l.Filesz/2, l.Offset+l.Filesz-1)
	}
	for _, n := range cuts {
		m, err := Parse("cut", f.b[:n:n])
		require.Error(t, err, n)
		require.Nil(t, m)
		if n < 4 {
			require.ErrorIs(t, err, ErrNotELF, n)
		} else {
			require.ErrorIs(t, err, ErrTruncated, n)
		}
	}
	last := f.m.Loads[len(f.m.Loads)-1]
	_, err := Parse("sections cut", f.b[:last.Offset+last.Filesz])
	assert.NoError(t, err, "section headers are not needed")
}
