// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	library    = "/lib/libmpich.so.12"
	lib3, lib4 = 0x200000, 0x300000
	onceObject = 0x400000
	stack4     = 0x500000
	arena4     = heapSpan
	censusAt   = 0x101000
	instance3  = 0x101400
	instance4  = 0x101600
	onceInst   = 0x101800
	firstJob   = 0x101a00
	objects    = 0x102000 // 64 bytes each
	homeOffset = 0x20
)

// libraryAt is a library of six pages, whose zeroed data is one mapping with the page of
// thread-locals and a page of the process behind it.
func libraryAt(start uint64) []vma {
	return []vma{
		{start, "r--p", 0, library, []uint64{ofFile}},
		{start + 0x1000, "r-xp", 0x1000, library, []uint64{ofFile, none}},
		{start + 0x3000, "r--p", 0x3000, library, []uint64{anonymous}},
		{start + 0x4000, "rw-p", 0x4000, library, []uint64{swapped}},
		{start + 0x5000, "rw-p", 0, "", []uint64{anonymous, anonymous, forked}},
	}
}

// threads makes process 9 of ranks 3 and 4, the first thread being rank 3.
func threads(t testing.TB) *tree {
	w := newTree(t)
	w.process(9, 1, "prog")
	all := []vma{{0x100000, "r--p", 0, "/opt/lib/libtpsl.so.0", []uint64{ofFile, none}}}
	all = append(all, libraryAt(lib3)...)
	all = append(all, libraryAt(lib4)...)
	all = append(all,
		vma{onceObject, "r-xp", 0, "/lib/libucm.so.0", []uint64{ofFile}},
		vma{stack4, "rw-p", 0, "", []uint64{none, anonymous}},
		vma{0x600000, "rw-p", 0, "[heap]", []uint64{anonymous, anonymous}},
		vma{0x7f0000, "rw-p", 0, "[stack]", []uint64{anonymous}},
		vma{arena4, "rw-p", 0, "", []uint64{anonymous, anonymous, anonymous}})
	w.maps(9, all)
	w.memory(9, threadsMemory())
	return w
}

func threadsMemory() map[uint64][]uint64 {
	object := func(next, instance, start, end uint64) []uint64 {
		return []uint64{0, 0, 0, next, 0, instance, start, end}
	}
	return map[uint64][]uint64{
		0x100000: elfWith(censusAt - 0x100000 - 148),
		censusAt: {censusWords * 8, 0x101200, 40, 48, 56, homeOffset, onceInst, 0x101208, 0x101210, 9,
			0x101218, 0x101220},
		0x101200:               {objects, 3, 0, firstJob, 1}, // first object, published, withdrawn, first job, moves
		firstJob:               {0, 0, 2, 0x101300, 8, 0x101304, 8, 0x101320, 8},
		0x101300:               {3 | 9<<32, 4 | 12<<32}, // rank and thread
		0x101320:               {instance3, instance4},  // owner
		instance3 + homeOffset: {0, 0, 0x101900, 0x600010},
		instance4 + homeOffset: {stack4, stack4 + 0x2000, 0x101908, arena4 + 0x2000},
		0x101900:               {lib3 + 0x6000, lib4 + 0x6000},
		lib3 + 0x6000:          {0, 0x1000},
		lib4 + 0x6000:          {0, 0x1000},
		objects:                object(objects+64, instance3, lib3, lib3+0x6000),
		objects + 64:           object(objects+128, instance4, lib4, lib4+0x6000),
		objects + 128:          object(0, onceInst, onceObject, onceObject+0x1000),
		arena4:                 {arena4 + 0x30},
	}
}

// lines tells rows in kB: resident, anonymous, swapped.
func lines(p *Process) (all []string) {
	for _, r := range p.Rows {
		all = append(all, fmt.Sprintf("%s %s %s: %d %d %d", r.Owner, r.Object, r.Segment, r.Resident>>10, r.Anonymous>>10, r.Swapped>>10))
	}
	return all
}

func TestRows(t *testing.T) {
	p, err := threads(t).proc.Read(9)
	require.NoError(t, err)
	assert.Empty(t, p.Partial)
	assert.Equal(t, []Rank{{3, 0, 9}, {4, 0, 12}}, p.Ranks)
	assert.Equal(t, []string{
		"rank 3 /lib/libmpich.so.12 rodata: 4 0 0",
		"rank 3 /lib/libmpich.so.12 text: 4 0 0",
		"rank 3 /lib/libmpich.so.12 relro: 4 4 0",
		"rank 3 /lib/libmpich.so.12 data: 0 0 4",
		"rank 3 /lib/libmpich.so.12 bss: 4 4 0",
		"rank 3 thread-locals rw-p: 4 4 0",
		"rank 3 heap rw-p: 8 8 0",
		"rank 3 stack rw-p: 4 4 0",
		"rank 4 /lib/libmpich.so.12 rodata: 4 0 0",
		"rank 4 /lib/libmpich.so.12 text: 4 0 0",
		"rank 4 /lib/libmpich.so.12 relro: 4 4 0",
		"rank 4 /lib/libmpich.so.12 data: 0 0 4",
		"rank 4 /lib/libmpich.so.12 bss: 4 4 0",
		"rank 4 thread-locals rw-p: 4 4 0",
		"rank 4 stack rw-p: 4 4 0",
		"rank 4 heap rw-p: 12 12 0",
		"once /lib/libucm.so.0 text: 4 0 0",
		"process /opt/lib/libtpsl.so.0 rodata: 4 0 0",
		"process anonymous rw-p: 8 8 0",
	}, lines(p))
	f := p.Total
	assert.Equal(t, f.Resident, f.SharedClean+f.SharedDirty+f.PrivateClean+f.PrivateDirty)
	assert.Equal(t, uint64(8<<10), f.SharedDirty, "what a child has too")
	assert.Equal(t, uint64(8<<10), f.Copied, "relro")
	assert.Equal(t, Nodes{1: f.Resident}, f.Nodes)
	// Tables of pages for 0-2, 2-4, 4-6, 6-8 and 64-66 MiB, one of the next level, one of the third.
	assert.Equal(t, uint64(7*pageSize), f.Tables)
	assert.Equal(t, uint64(40<<10), p.Tables)
}

// Pages of hugetlb, which the kernel has in no sum, are resident memory with its page tables: without a file in a private mapping,
// and of a file otherwise.
func TestHugetlb(t *testing.T) {
	const size = 2 << 20
	w := newTree(t)
	w.process(9, 1, "prog")
	all := []vma{{0x1000, "r-xp", 0, library, []uint64{none}}}
	var smaps, numa strings.Builder
	for i, c := range []struct {
		perm, name, kind string
		entry            uint64
	}{
		{"rw-p", "/anon_hugepage (deleted)", "Private", anonymous},
		{"rw-p", "/huge/data", "Private", anonymous},
		{"r--p", "/huge/constants", "Shared", ofFile},
		{"rw-s", "/SYSV00000000 (deleted)", "Private", ofFile},
	} {
		start := uint64(i+1) * size
		all = append(all, vma{start, c.perm, 0, c.name, slices.Repeat([]uint64{c.entry}, size/pageSize)})
		fmt.Fprintf(&smaps, "%x-%x %s 0 00:11 77    %s\nKernelPageSize: 2048 kB\nRss: 0 kB\nAnonymous: 0 kB\n%s_Hugetlb: 2048 kB\nSwap: 0 kB\n",
			start, start+size, c.perm, c.name, c.kind)
		fmt.Fprintf(&numa, "%x default file=/x huge dirty=1 N1=1 kernelpagesize_kB=2048\n", start)
	}
	w.maps(9, all)
	w.write(9, "smaps", smaps.String())
	w.write(9, "numa_maps", numa.String())
	p, err := w.proc.Read(9)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"rank 5 /anon_hugepage (deleted) rw-p: 2048 2048 0",
		"rank 5 /huge/data data: 2048 2048 0",
		"rank 5 /huge/constants rodata: 2048 0 0",
		"rank 5 /SYSV00000000 (deleted) rw-s: 2048 0 0",
	}, lines(p))
	assert.Equal(t, Figures{
		Mapped: 4 * size, Resident: 4 * size, SharedDirty: size, PrivateDirty: 3 * size, Anonymous: 2 * size, Copied: size,
		Huge: 4 * size, Tables: 2 * pageSize, Nodes: Nodes{1: 4 * size},
	}, p.Total)
	var states []string
	require.NoError(t, w.proc.EachPages(p, func(run *Pages) error {
		states = append(states, run.State)
		return nil
	}))
	assert.Equal(t, []string{"anonymous", "copied", "file", "shared memory"}, states)
}

// An arena that the threads of several ranks share belongs to none of them.
func TestSharedHeap(t *testing.T) {
	w := threads(t)
	memory := threadsMemory()
	memory[instance3+homeOffset][3] = arena4 + 0x1000
	w.memory(9, memory)
	p, err := w.proc.Read(9)
	require.NoError(t, err)
	assert.Contains(t, lines(p), "process [heap] rw-p: 8 8 0")
	assert.Contains(t, lines(p), "process anonymous rw-p: 20 20 0")
}

// A heap is one mapping with what is mapped before it, and with the rank's next heap, where the kernel has joined them.
func TestJoinedHeaps(t *testing.T) {
	const before, more = 2, 3 // pages
	w := threads(t)
	pages := slices.Repeat([]uint64{none}, before+heapSpan/pageSize+more)
	for i := range before {
		pages[i] = anonymous
	}
	pages[before], pages[before+heapSpan/pageSize] = anonymous, anonymous
	all := append([]vma{{0x100000, "r--p", 0, "/opt/lib/libtpsl.so.0", []uint64{ofFile, none}}}, libraryAt(lib3)...)
	w.maps(9, append(all, vma{arena4 - before*pageSize, "rw-p", 0, "", pages}))
	memory := threadsMemory()
	memory[arena4+heapSpan] = []uint64{arena4 + 0x30}
	w.memory(9, memory)
	p, err := w.proc.Read(9)
	require.NoError(t, err)
	assert.Contains(t, lines(p), "rank 4 heap rw-p: 8 8 0")
	assert.Contains(t, lines(p), "process anonymous rw-p: 12 12 0")
}

// The ranks of each job are told apart, in the order of jobs, and the oldest job is the last in the chain.
func TestJobs(t *testing.T) {
	w := threads(t)
	memory := threadsMemory()
	const secondJob = firstJob + 0x80
	memory[0x101200][3] = secondJob
	memory[secondJob] = []uint64{firstJob, 7, 1, 0x101300, 8, 0x101304, 8, 0x101320, 8}
	memory[firstJob] = []uint64{0, 6, 1, 0x101308, 8, 0x10130c, 8, 0x101328, 8}
	w.memory(9, memory)
	p, err := w.proc.Read(9)
	require.NoError(t, err)
	assert.Empty(t, p.Partial)
	assert.Equal(t, []Rank{{4, 6, 12}, {3, 7, 9}}, p.Ranks)
	all := lines(p)
	assert.Equal(t, "rank 4 of job 6 /lib/libmpich.so.12 rodata: 4 0 0", all[0])
	assert.Contains(t, all, "rank 3 of job 7 heap rw-p: 8 8 0")
}

// Jobs that begin or end while figures are read are told.
func TestJobsMoveWhileRead(t *testing.T) {
	w := threads(t)
	r, err := w.proc.begin(9)
	require.NoError(t, err)
	memory := threadsMemory()
	memory[0x101200][4]++
	w.memory(9, memory)
	require.NoError(t, r.finish())
	assert.Equal(t, []string{"ranks: " + errMoving.Error()}, r.Partial)
}

// What cannot be read is an error that says why, or a note on an answer in part.
func TestUnreadable(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(w *tree)
		want  string
	}{
		{"gone", func(w *tree) { require.NoError(w.t, os.RemoveAll(w.proc.path(9, ""))) }, "process 9: there is no such process here: it has ended, or its number is that of another PID namespace"},
		{"zombie", func(w *tree) { w.write(9, "status", "Name:\tprog\n") }, "process 9 (prog): there is no such process here: it has no memory any more"},
		{"ended before smaps", func(w *tree) { w.write(9, "smaps", "") }, "process 9 (prog): there is no such process here: it ended while it was read"},
		{"no rank", func(w *tree) { w.write(9, "maps", "1000-2000 r-xp 0 08:01 4 /bin/sleep\n") }, "process 9 (prog): it is no MPI rank, and no process below it is: name the processes of ranks, or their mpiexec"},
		{"before MPI_Init", func(w *tree) { m := threadsMemory(); m[censusAt][wordSize] = 0; w.memory(9, m) }, "process 9 (prog): it is no MPI rank yet: it has not called MPI_Init"},
		{"between jobs", func(w *tree) { m := threadsMemory(); m[0x101200][3] = 0; w.memory(9, m) }, "process 9 (prog): it is no MPI rank now: its calls of TPSL_Run have returned"},
		{"cut off", func(w *tree) { w.write(9, "smaps", "1000-2000 r-xp 0 08:01 4 /bin/sleep\nRss:  4 k") }, "process 9: malformed mapping: Rss of 0x1000: \"  4 k\""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := threads(t)
			c.spoil(w)
			all, errs := w.proc.Job([]int{9})
			assert.Empty(t, all)
			require.Len(t, errs, 1)
			assert.EqualError(t, errs[0], c.want)
		})
	}
}

func TestInPart(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(w *tree)
		want  string
	}{
		{"no pagemap", func(w *tree) { require.NoError(w.t, os.Remove(w.proc.path(9, "pagemap"))) }, "page tables of each row"},
		{"nodes", func(w *tree) { w.write(9, "numa_maps", "zzz\n") }, "nodes from 0x100000 on: malformed line of numa_maps"},
		{"census", func(w *tree) { m := threadsMemory(); m[censusAt][wordSize] = 8; w.memory(9, m) }, "ranks: malformed census"},
		{"a job without ranks", func(w *tree) { m := threadsMemory(); m[firstJob][jobRanks] = 0; w.memory(9, m) }, "ranks: malformed job"},
		{"jobs without end", func(w *tree) { m := threadsMemory(); m[firstJob][jobNext] = firstJob; w.memory(9, m) }, "ranks: malformed job"},
		{"chain", func(w *tree) { m := threadsMemory(); m[objects+64][6] = 5; w.memory(9, m) }, "ranks: malformed object"},
		{"ranks", func(w *tree) { m := threadsMemory(); m[firstJob][jobRank] = 1 << 46; w.memory(9, m) }, "ranks: read memory at 0x400000000000"},
		{"forked", func(w *tree) { w.write(9, "status", "Name:\tprog\nNSpid:\t9\t2\nVmPTE: 4 kB\n") }, "the process was forked by that of ranks"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := threads(t)
			c.spoil(w)
			p, err := w.proc.Read(9)
			require.NoError(t, err)
			assert.Contains(t, strings.Join(p.Partial, "\n"), c.want)
			assert.Equal(t, uint64(84<<10), p.Total.Resident)
		})
	}
}

// A process that ends while its mappings are read: the kernel ends the text early, and then
// knows no memory of it.
func TestEndsWhileRead(t *testing.T) {
	w := threads(t)
	r, err := w.proc.begin(9)
	require.NoError(t, err)
	w.write(9, "smaps", "100000-102000 r--p 0 08:01 77 /opt/lib/libtpsl.so.0\nRss: 4 kB\n")
	w.write(9, "status", "Name:\tprog\n")
	err = r.finish()
	assert.EqualError(t, err, "process 9 (prog): there is no such process here: it ended while it was read")
	assert.ErrorIs(t, err, ErrGone)
}
