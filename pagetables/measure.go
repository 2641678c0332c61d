// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pagetables

import (
	"strings"
)

// A reading is a process that is being read.
type reading struct {
	proc Proc
	*Process
	status *status
	census *census

	mayHaveRanks bool // an MPI library is mapped, or ours

	pages *pageMap    // nil: cannot be read
	nodes *nodeReader // nil: the kernel has none
	walk  tableWalk
	rows  map[rowKey]*Row
	spanWalk
}

type rowKey struct {
	owner           Owner
	object, segment string
}

// measure sums the pages of all mappings.
func (r *reading) measure() error {
	r.rows = map[rowKey]*Row{}
	if numa := r.optional("numa_maps"); numa != nil {
		defer numa.Close()
		r.nodes = newNodeReader(numa)
	}
	if pages, err := openPageMap(r.proc.path(r.PID, "pagemap")); err == nil {
		r.pages = pages
		defer pages.close()
	} else {
		r.partial("page tables of each row, parts of mappings that several have: %v", err)
	}
	if err := r.mappings("smaps", r.take); err != nil {
		return err
	}
	r.walk.end()
	for _, row := range r.Rows {
		r.Total.Add(&row.Figures)
	}
	r.sortRows()
	r.Sources = r.sources()
	return nil
}

func (r *reading) sources() []Source {
	s := []Source{{Figures: "mapped, resident, shared, private, anonymous, swapped, huge", From: "smaps"}}
	walk := "pagemap"
	if r.pages != nil && r.pages.scans {
		walk = "PAGEMAP_SCAN"
	}
	if r.pages != nil {
		s = append(s, Source{"page tables", "VmPTE of status; of a row: " + walk, "tables that map nothing any more, or only the page of zeros, are of no row"})
	}
	if r.nodes != nil {
		s = append(s, Source{Figures: "nodes", From: "numa_maps", Unknown: "which owner has which node, in a mapping of several on several nodes"})
	} else {
		s = append(s, Source{"nodes", "none", "the kernel has no numa_maps"})
	}
	if r.census != nil {
		s = append(s, Source{"owners", "census in the process's memory", "whose memory is that the ranks' threads map themselves or share a heap for: it is the process's"})
	}
	return s
}

// take adds a mapping's figures to the rows of those who have its pages.
func (r *reading) take(m *Mapping) error {
	if r.nodes != nil {
		nodes, err := r.nodes.of(m.Start)
		if err != nil {
			r.partial("nodes from %#x on: %v", m.Start, err)
			r.nodes = nil
		}
		m.Nodes = nodes
		m.Nodes.complete(m.Resident, &m.Nodes)
	}
	parts := r.divide(m)
	if len(parts) == 1 {
		parts[0].row.Add(&m.Figures)
	} else {
		r.deal(m, parts)
	}
	if r.pages == nil || m.Resident+m.Swapped == 0 {
		return nil
	}
	for _, part := range parts {
		err := r.pages.populated(part.start, part.end, func(start, end uint64) { r.walk.add(start, end, m.PageSize, &part.row.Figures) })
		if err != nil {
			r.partial("page tables: %v", err)
		}
	}
	return nil
}

// A part of a mapping has one owner.
type part struct {
	start, end uint64
	row        *Row
}

// divide cuts a mapping where owners change.
func (r *reading) divide(m *Mapping) (parts []part) {
	_ = r.spanWalk.over(m, func(start, end uint64, s *span) error {
		owner, object, segment := r.rest, objectOf(m), segmentOf(m)
		if s != nil {
			owner, object, segment = s.owner, s.object, s.segment(m)
		}
		parts = append(parts, part{start, end, r.row(owner, object, segment)})
		return nil
	})
	return parts
}

// segment names the pages of a mapping in a span.
func (s *span) segment(m *Mapping) string {
	switch {
	case s.object == stack || s.object == heap || s.object == threadLocals:
		return m.Perm
	case !m.OfFile() && strings.HasPrefix(m.Perm, "rw"):
		return "bss"
	default:
		return segmentOf(m)
	}
}

func (r *reading) row(owner Owner, object, segment string) *Row {
	key := rowKey{owner, object, segment}
	row := r.rows[key]
	if row == nil {
		row = &Row{Owner: owner, Object: strings.Clone(object), Segment: strings.Clone(segment)}
		key.object, key.segment = row.Object, row.Segment
		r.rows[key] = row
		r.Rows = append(r.Rows, row)
	}
	return row
}

// objectOf names memory without a file by what it is for, as far as the kernel knows.
func objectOf(m *Mapping) string {
	switch {
	case m.Name != "":
		return m.Name
	case strings.HasSuffix(m.Perm, "s"):
		return "shared memory"
	default:
		return "anonymous"
	}
}

// segmentOf names a mapping of a library. What was relocated and may not be written any
// more has been copied, which constants are not.
func segmentOf(m *Mapping) string {
	if !m.OfFile() || strings.HasSuffix(m.Perm, "s") {
		return m.Perm
	}
	switch m.Perm[:3] {
	case "r-x":
		return "text"
	case "r--":
		if m.Copied+m.Swapped > 0 {
			return "relro"
		}
		return "rodata"
	case "rw-":
		return "data"
	default:
		return m.Perm
	}
}

// deal shares a mapping out. Of its pages the page map tells which are there, of no file
// and mapped once; the sum is what smaps says of the mapping, and the last part has what
// is left.
func (r *reading) deal(m *Mapping, parts []part) {
	left := m.Figures
	give := func(from, to *uint64, want uint64) uint64 {
		n := min(*from, want)
		*from -= n
		*to += n
		return want - n
	}
	for i, part := range parts {
		f := &part.row.Figures
		if i == len(parts)-1 {
			f.Add(&left)
			return
		}
		seen := r.look(part)
		give(&left.Mapped, &f.Mapped, part.end-part.start)
		before := left.Resident
		give(&left.PrivateClean, &f.PrivateClean, give(&left.PrivateDirty, &f.PrivateDirty, seen.once))
		give(&left.SharedClean, &f.SharedClean, give(&left.SharedDirty, &f.SharedDirty, seen.more))
		give(&left.Resident, &f.Resident, seen.once+seen.more)
		give(&left.Anonymous, &f.Anonymous, seen.anonymous)
		give(&left.Swapped, &f.Swapped, seen.swapped)
		left.Nodes = dealNodes(left.Nodes, f, before-left.Resident)
	}
}

// dealNodes takes resident bytes of a part from a mapping's nodes. With pages on several
// nodes it is not known which the part's are on.
func dealNodes(nodes Nodes, f *Figures, bytes uint64) Nodes {
	if bytes == 0 || len(nodes) == 0 {
		return nodes
	}
	left := Nodes{}
	for node, n := range nodes {
		if len(nodes) > 1 {
			node = -1
		}
		left[node] += n
	}
	for node := range left {
		f.Nodes.add(Nodes{node: bytes}, &f.Nodes)
		left[node] -= min(bytes, left[node])
	}
	return left
}

// seen are bytes of a part of a mapping: resident ones that are mapped once or more often,
// and of these those of no file; and swapped ones.
type seen struct{ once, more, anonymous, swapped uint64 }

func (r *reading) look(part part) (s seen) {
	if r.pages == nil {
		return s
	}
	err := r.pages.populated(part.start, part.end, func(start, end uint64) {
		if err := r.pages.read(start, end, func(_, entry uint64) { s.count(entry) }); err != nil {
			r.partial("%v", err)
		}
	})
	if err != nil {
		r.partial("%v", err)
	}
	return s
}

func (s *seen) count(entry uint64) {
	switch {
	case entry&entrySwapped != 0:
		s.swapped += pageSize
		return
	case entry&entryPresent == 0:
		return
	case entry&entryExclusive != 0:
		s.once += pageSize
	default:
		s.more += pageSize
	}
	if entry&entryFile == 0 {
		s.anonymous += pageSize
	}
}
