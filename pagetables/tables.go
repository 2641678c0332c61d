// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

// A table of each level maps 512 of the level below, so these bits of an address choose it
// (Intel SDM vol. 3, 4.5): tables of pages, of 2 MiB and of 1 GiB. The root is not counted,
// nor is it in VmPTE.
var levels = [...]uint{21, 30, 39}

// A tableWalk counts the page tables of runs of pages that come in the order of addresses.
// A table that several rows need costs each of them its part.
type tableWalk struct {
	total uint64
	at    [len(levels)]struct {
		index uint64
		users []*Figures
	}
}

// add counts the tables of a run. Pages of hugetlb have no tables of the levels below their size.
func (w *tableWalk) add(start, end, size uint64, row *Figures) {
	for i, bits := range levels {
		if size >= 1<<bits {
			continue
		}
		for index := start >> bits; index <= (end-1)>>bits; index++ {
			w.use(i, index, row)
		}
	}
}

func (w *tableWalk) use(level int, index uint64, row *Figures) {
	t := &w.at[level]
	if index != t.index {
		w.finish(level)
		t.index = index
	}
	for _, u := range t.users {
		if u == row {
			return
		}
	}
	t.users = append(t.users, row)
}

// finish shares out the current table of a level.
func (w *tableWalk) finish(level int) {
	t := &w.at[level]
	n := uint64(len(t.users))
	for i, row := range t.users {
		row.Tables += pageSize / n
		if uint64(i) < pageSize%n {
			row.Tables++
		}
	}
	if n > 0 {
		w.total += pageSize
	}
	t.users = t.users[:0]
}

func (w *tableWalk) end() {
	for level := range levels {
		w.finish(level)
	}
}
