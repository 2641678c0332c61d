// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// heapSpan is what glibc's malloc reserves for a heap of a thread, and how it aligns it; the
// first word of each leads to the arena that it belongs to, behind the header of its first
// heap (malloc/arena.c: HEAP_MAX_SIZE, heap_info).
const (
	heapSpan   = 64 << 20
	heapHeader = pageSize
)

// Segments that are no segments of a file.
const (
	stack        = "stack"
	heap         = "heap"
	threadLocals = "thread-locals"
)

// A span is a part of the address space that is not the process's.
type span struct {
	start, end uint64
	owner      Owner
	object     string // "": the file that is mapped there
}

// landmarks are mappings that a census does not tell.
type landmarks struct {
	libraries   []uint64 // where a library of ours may be mapped
	heaps       []span   // parts of mappings, from where a heap of a thread may begin
	stack, heap span     // of the process's first thread
	mpi         bool     // an MPI library is mapped
}

// note takes what is one of them.
func (l *landmarks) note(m *Mapping) {
	l.mpi = l.mpi || isMPI(m.Name)
	switch {
	case m.Name == "[stack]":
		l.stack = span{start: m.Start, end: m.End}
	case m.Name == "[heap]":
		l.heap = span{start: m.Start, end: m.End}
	case m.Offset == 0 && len(l.libraries) < maxLibraries && hasCensus(path.Base(m.Name)):
		l.libraries = append(l.libraries, m.Start)
	case !m.OfFile() && m.Perm == "rw-p" && len(l.heaps) < maxHeaps:
		if start := (m.Start + heapSpan - 1) &^ (heapSpan - 1); start < m.End {
			l.heaps = append(l.heaps, span{start: start, end: m.End})
		}
	}
}

// hasCensus tells the files that process/census.c is part of.
func hasCensus(file string) bool {
	return strings.HasPrefix(file, "libtpsl.so") || strings.HasPrefix(file, "libtpslhost.so")
}

// spansOf lists who has what, in the order of addresses.
func (c *census) spansOf(m memory, l *landmarks) []span {
	owners := c.owners()
	var all []span
	for _, o := range c.objects {
		all = append(all, span{o.start, o.end, owners[o.instance], ""})
	}
	for i := range c.ranks {
		r := &c.ranks[i]
		if r.instance == 0 {
			continue
		}
		owner := owners[r.instance]
		if s := (span{r.home.stack, r.home.stackEnd, owner, stack}); s.start != 0 {
			all = append(all, s)
		} else if l.stack.end != 0 {
			all = append(all, span{l.stack.start, l.stack.end, owner, stack})
		}
		all = append(all, threadLocalSpans(m, r.home.threadLocals, owner)...)
	}
	all = append(all, c.heapSpans(m, l, owners)...)
	return inOrder(all)
}

// owners names instances.
func (c *census) owners() map[uint64]Owner {
	owners := map[uint64]Owner{c.once: {Kind: Once}}
	for _, r := range c.ranks {
		if r.instance != 0 {
			owners[r.instance] = Owner{OfRank, r.Rank.Rank, r.Job}
		}
	}
	copies := 0
	for _, o := range c.objects {
		if _, known := owners[o.instance]; !known {
			copies++
			owners[o.instance] = Owner{Kind: Copy, Number: copies}
		}
	}
	return owners
}

// threadLocalSpans follows the chain of a thread's pages for thread-locals: struct arena of
// loader/tls.c. A thread that ends takes it away: what is no such chain is not taken.
func threadLocalSpans(m memory, at uint64, owner Owner) (all []span) {
	page, err := m.word(at)
	for err == nil && page != 0 && page%pageSize == 0 && len(all) < maxArenas {
		var arena []uint64
		if arena, err = m.words(page, 2); err != nil || arena[1] == 0 || arena[1]%pageSize != 0 || page+arena[1] < page {
			break
		}
		all = append(all, span{page, page + arena[1], owner, threadLocals})
		page = arena[0]
	}
	return all
}

// heapSpans gives each heap to the rank whose thread allocates from it. One that several
// ranks use is the process's.
func (c *census) heapSpans(m memory, l *landmarks, owners map[uint64]Owner) (all []span) {
	const first = 0 // stands for the arena of the process's first thread, which is no heap of these
	users := map[uint64]Owner{}
	for _, r := range c.ranks {
		arena, err := uint64(first), error(nil)
		if r.home.heap < l.heap.start || r.home.heap >= l.heap.end {
			arena, err = m.word(r.home.heap &^ (heapSpan - 1))
		}
		if err != nil || r.home.heap == 0 {
			continue
		}
		if _, several := users[arena]; several {
			users[arena] = Owner{}
		} else {
			users[arena] = owners[r.instance]
		}
	}
	if owner := users[first]; owner != (Owner{}) {
		all = append(all, span{l.heap.start, l.heap.end, owner, heap})
	}
	for _, in := range l.heaps {
		for start := in.start; start < in.end && len(all) < maxHeaps; start += heapSpan {
			arena, err := m.word(start)
			if err != nil || arena%heapSpan == 0 || arena%heapSpan >= heapHeader {
				break // what follows a heap without a gap is one, too
			}
			if owner := users[arena]; owner != (Owner{}) {
				all = append(all, span{start, start + heapSpan, owner, heap})
			}
		}
	}
	return all
}

// inOrder sorts spans and leaves out what overlaps one before it.
func inOrder(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	kept := all[:0]
	end := uint64(0)
	for _, s := range all {
		if s.start >= end {
			kept = append(kept, s)
			end = s.end
		}
	}
	return kept
}
