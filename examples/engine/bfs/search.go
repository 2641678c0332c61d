// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"sync/atomic"

	"github.com/tpsl/tpsl/endpoints/engine"
	"github.com/tpsl/tpsl/examples/engine/internal/crew"
)

// A search is a rank's, and its mates share it.
type search struct {
	*part
	form     string
	parents  []int64  // of its vertices; set once, by whoever is first
	frontier []uint32 // indices of the vertices of this level
	found    [][]uint32
	over     bool
	consensus
}

// A walker is a thread that searches.
type walker struct {
	*search
	*mail
	odd  int // this level
	ends int // ranks that have no more finds of this level
}

// Forms of the search.
const (
	reference = "reference" // a thread for each rank, which scans and receives
	receivers = "receivers" // a second one receives
	hybrid    = "hybrid"    // mates that all do both, and find out by consensus that a level is over
)

var forms = []string{reference, receivers, hybrid}

func newSearch(p *part, form string, mates int) *search {
	return &search{part: p, form: form, parents: slices.Repeat([]int64{none}, p.vertices()), found: make([][]uint32, mates)}
}

// run searches from a root. Each mate of each rank calls it.
func (s *search) run(m *crew.Member, b *mail, root uint32) error {
	w := &walker{search: s, mail: b}
	if owner, i := s.owner(root); owner == m.Rank && m.Mate == 0 {
		s.parents[i], s.frontier = int64(root), []uint32{uint32(i)}
	}
	for !s.over {
		if err := m.Meet(); err != nil { // the frontier stands
			return err
		}
		if err := w.level(); err != nil {
			return err
		}
		if err := m.Meet(); err != nil { // all has been found
			return err
		}
		if m.Mate == 0 {
			if err := w.next(); err != nil {
				return err
			}
		}
		if err := m.Meet(); err != nil {
			return err
		}
		w.odd, w.ends = 1-w.odd, 0
	}
	return nil
}

// level does this thread's share of a level.
func (w *walker) level() error {
	switch {
	case w.form == hybrid:
		return w.hybridLevel()
	case w.m.Mate == 1:
		return w.untilEnds()
	}
	if err := w.scan(w.frontier); err != nil {
		return err
	}
	for rank := range w.m.Size {
		if rank == w.m.Rank {
			continue
		}
		if err := w.m.Port.Send(nil, engine.Envelope{Context: finds + uint32(w.odd), Peer: int32(rank), Tag: ended}); err != nil {
			return err
		}
	}
	if w.form == receivers {
		return nil
	}
	return w.untilEnds()
}

// untilEnds receives until no other rank has more finds.
func (w *walker) untilEnds() error {
	for w.ends < w.m.Size-1 {
		came, err := w.receive()
		if err != nil {
			return err
		}
		if !came {
			w.m.Yield()
		}
	}
	return nil
}

// receive takes a message of finds, if one has come.
func (w *walker) receive() (bool, error) {
	return w.came(w.odd, func(pairs []uint32, s engine.Status) error {
		if s.Tag == ended {
			w.ends++
			return nil
		}
		for i := 0; i < len(pairs); i += 2 {
			w.visit(pairs[i], pairs[i+1])
		}
		if w.form == hybrid {
			return w.acknowledge(s)
		}
		return nil
	})
}

// look receives if this is the thread that does.
func (w *walker) look() error {
	if w.form == receivers {
		return nil
	}
	_, err := w.receive()
	return err
}

// scan finds the neighbours of a part of the frontier, and sends those of other ranks there.
func (w *walker) scan(frontier []uint32) error {
	for _, i := range frontier {
		u := i*uint32(w.ranks) + uint32(w.rank)
		for _, v := range w.of(int(i)) {
			owner, index := w.owner(v)
			if owner == w.rank {
				w.visit(uint32(index), u)
				continue
			}
			o := &w.out[owner]
			if o.pairs = append(o.pairs, uint32(index), u); len(o.pairs) == cap(o.pairs) {
				if err := w.send(owner); err != nil {
					return err
				}
			}
		}
		if err := w.look(); err != nil {
			return err
		}
	}
	for rank := range w.out {
		if len(w.out[rank].pairs) > 0 {
			if err := w.send(rank); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) send(to int) error {
	if w.form == hybrid {
		w.unacknowledged.Add(1)
	}
	return w.flush(to, w.odd, w.look)
}

// visit gives the vertex a parent, if it has none.
func (w *walker) visit(index, parent uint32) {
	p := &w.parents[index]
	if atomic.LoadInt64(p) == none && atomic.CompareAndSwapInt64(p, none, int64(parent)) {
		w.found[w.m.Mate] = append(w.found[w.m.Mate], index)
	}
}

// next makes the finds the frontier; the search is over if no rank has any.
func (w *walker) next() error {
	w.frontier = w.frontier[:0]
	for mate := range w.found {
		w.frontier = append(w.frontier, w.found[mate]...)
		w.found[mate] = w.found[mate][:0]
	}
	total := []int64{int64(len(w.frontier))}
	if err := w.m.Sum(total); err != nil {
		return err
	}
	w.over = total[0] == 0
	w.consensus.reset()
	return nil
}
