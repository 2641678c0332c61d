// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// locate finds out from which lines the calls are made that threads have been in for a while. The mappings of each address space are read
// once, as those of many ranks are long. What cannot be read is not told.
func (b *Board) locate(ranks []Rank) {
	spaces := map[int][]*procfs.ProcMap{}
	for local := range ranks {
		for k := range ranks[local].Calls {
			c := &ranks[local].Calls[k]
			if c.Age < settlingAge {
				continue
			}
			space := b.ranks[local].Space
			if _, read := spaces[space]; !read {
				spaces[space] = mappingsOf(c.Thread)
			}
			c.Place = b.place(spaces[space], c.Return)
		}
	}
}

func mappingsOf(thread int) []*procfs.ProcMap {
	process, err := procfs.NewProc(thread) // threads are found by their id, though they are not listed
	if err != nil {
		return nil
	}
	mappings, _ := process.ProcMaps()
	return mappings
}

// place returns the place in the source of the call that returns to an address.
func (b *Board) place(mappings []*procfs.ProcMap, returns uint64) string {
	call := uintptr(returns - 1) // it is before that
	i := slices.IndexFunc(mappings, func(m *procfs.ProcMap) bool { return m.StartAddr <= call && call < m.EndAddr })
	if i < 0 || !strings.HasPrefix(mappings[i].Pathname, "/") || isBinding(mappings[i].Pathname) {
		return ""
	}
	m := mappings[i]
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.places.ofFile(m.Pathname, uint64(call-m.StartAddr)+uint64(m.Offset)).String()
}

// isBinding reports whether a library calls the functions of C for programs in other languages. The twin of this list is in front/counts.c.
func isBinding(path string) bool {
	name := filepath.Base(path)
	return slices.ContainsFunc([]string{"libmpichfort.", "libmpifort.", "libmpi_mpifh.", "libmpi_usempi", "libmpichcxx.", "libmpi_cxx.", "libmpi_abi_fort.", "libtpsl.so"},
		func(binding string) bool { return strings.HasPrefix(name, binding) })
}
