// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tree is a proc filesystem in a folder. Its processes live at low addresses, so that
// their memory and page maps are small files.
type tree struct {
	t    testing.TB
	proc Proc
}

func newTree(t testing.TB) *tree { return &tree{t, Proc(t.TempDir())} }

func (w *tree) write(pid int, name, text string) {
	w.t.Helper()
	path := w.proc.path(pid, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o666))
}

// process writes what every process has.
func (w *tree) process(pid, parent int, name string) {
	w.write(pid, "status", fmt.Sprintf("Name:\t%s\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t%d\nVmPTE:\t      40 kB\n", name, pid))
	w.write(pid, "stat", fmt.Sprintf("%d (%s) S %d%s", pid, name, parent, strings.Repeat(" 7", 30)))
	w.write(pid, "environ", "PMI_RANK=5\x00")
	w.write(pid, "maps", "")
	w.write(pid, "smaps", "")
}

// A vma is a mapping of a tree's process: its pages' entries of pagemap, in order.
type vma struct {
	start   uint64
	perm    string
	offset  uint64
	name    string
	entries []uint64
}

// Entries of pagemap.
const (
	none      = 0
	ofFile    = entryPresent | entryFile
	anonymous = entryPresent | entryExclusive
	forked    = entryPresent // anonymous, and of a child too
	swapped   = entrySwapped
)

// maps writes maps, smaps, numa_maps and pagemap that agree.
func (w *tree) maps(pid int, all []vma) {
	w.t.Helper()
	var maps, smaps, numa strings.Builder
	pagemap, err := os.Create(w.proc.path(pid, "pagemap"))
	require.NoError(w.t, err)
	defer pagemap.Close()
	for _, v := range all {
		end := v.start + uint64(len(v.entries))*pageSize
		inode := 0
		if strings.HasPrefix(v.name, "/") {
			inode = 77
		}
		header := fmt.Sprintf("%x-%x %s %08x 08:01 %d    %s\n", v.start, end, v.perm, v.offset, inode, v.name)
		maps.WriteString(header)
		n := map[string]int{}
		for i, e := range v.entries {
			n[kindOf(e)]++
			_, err := pagemap.WriteAt(binary.LittleEndian.AppendUint64(nil, e), int64(v.start/pageSize*8)+int64(i)*8)
			require.NoError(w.t, err)
		}
		fmt.Fprintf(&smaps, "%sRss: %d kB\nShared_Clean: %d kB\nShared_Dirty: %d kB\nPrivate_Dirty: %d kB\nAnonymous: %d kB\nSwap: %d kB\nVmFlags: rd wr\n",
			header, 4*(n["file"]+n["own"]+n["forked"]), 4*n["file"], 4*n["forked"], 4*n["own"], 4*(n["own"]+n["forked"]), 4*n["swapped"])
		if resident := n["file"] + n["own"] + n["forked"]; resident > 0 {
			fmt.Fprintf(&numa, "%x default N1=%d kernelpagesize_kB=4\n", v.start, resident)
		}
	}
	w.write(pid, "maps", maps.String())
	w.write(pid, "smaps", smaps.String())
	w.write(pid, "numa_maps", numa.String())
}

func kindOf(entry uint64) string {
	switch {
	case entry&entrySwapped != 0:
		return "swapped"
	case entry&entryFile != 0:
		return "file"
	case entry&entryExclusive != 0:
		return "own"
	case entry&entryPresent != 0:
		return "forked"
	}
	return ""
}

// memory writes words of 8 bytes at addresses.
func (w *tree) memory(pid int, words map[uint64][]uint64) {
	w.t.Helper()
	f, err := os.Create(w.proc.path(pid, "mem"))
	require.NoError(w.t, err)
	defer f.Close()
	for address, list := range words {
		for i, word := range list {
			_, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, word), int64(address)+int64(i)*8)
			require.NoError(w.t, err)
		}
	}
}

// elfWith is the start of a library with a note that tells the distance to the census.
func elfWith(distance uint64) []uint64 {
	words := make([]uint64, 24)
	put := func(at int, bytes ...byte) {
		for i, b := range bytes {
			words[(at+i)/8] |= uint64(b) << (8 * ((at + i) % 8))
		}
	}
	put(0, 0x7f, 'E', 'L', 'F')
	put(32, 64)                                                     // program headers
	put(54, 56, 0, 1)                                               // one, of 56 bytes
	put(64, 4)                                                      // PT_NOTE
	put(64+16, 128)                                                 // where
	put(64+32, 28)                                                  // bytes
	put(128, 5, 0, 0, 0, 8, 0, 0, 0)                                // lengths of name and data
	put(136, 2, 0, 0, 0)                                            // type
	put(140, 't', 'p', 's', 'l')                                    // name
	put(148, byte(distance), byte(distance>>8), byte(distance>>16)) // data
	return words
}
